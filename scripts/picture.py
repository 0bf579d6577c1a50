"""The picture that render.py draws with VTK's Python modules, from python3-vtk9 or ParaView."""

import itertools
import math
import os
import re

import numpy
import vtkmodules.vtkRenderingFreeType  # noqa: F401  enables text
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  enables everything else
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkPoints, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkUnstructuredGrid
from vtkmodules.vtkFiltersCore import vtkContourFilter
from vtkmodules.vtkFiltersGeometry import vtkDataSetSurfaceFilter
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkRenderingAnnotation import vtkCubeAxesActor, vtkScalarBarActor
from vtkmodules.vtkRenderingCore import (vtkActor, vtkBillboardTextActor3D, vtkColorTransferFunction,
                                         vtkPolyDataMapper, vtkRenderer, vtkRenderWindow, vtkTextActor,
                                         vtkWindowToImageFilter)

import scale
import vtu
from fields import Fields

try:
    from vtkmodules.vtkFiltersCore import vtkExtractEdges
except ImportError:  # VTK older than 9.2
    from vtkmodules.vtkFiltersExtraction import vtkExtractEdges

# Colours of viridis (S. van der Walt and N. Smith): lightness increases evenly, also for readers
# with red-green colour blindness.
VIRIDIS = ["440154", "482475", "414487", "355f8d", "2a788e", "21918c", "22a884", "44bf70", "7ad151",
           "bddf26", "fde725"]
# Blue through white to red, for fields of both signs.
DIVERGING = ["3b4cc0", "7b9ff9", "c0d4f5", "f2f2f2", "f2cab5", "ee8468", "b40426"]


def black(text, size=None):
    """Makes text black and plain."""
    text.SetColor(0., 0., 0.)
    text.ItalicOff()
    text.BoldOff()
    text.ShadowOff()
    if size:
        text.SetFontSize(size)


def lines_of(name, width):
    """Breaks a name after underscores if it is longer than a line."""
    lines = [""]
    for word in re.findall("[^_]*_?", name):
        if lines[-1] and len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
    return lines


def rgb(text):
    return tuple(int(text[i:i + 2], 16) / 255 for i in (0, 2, 4))


def fields_to_draw(path):
    """Returns the fields of a file that has cells and arrays."""
    result = vtu.Result(path)
    if result.cells == 0 or not result.point_arrays:
        raise vtu.BadFile(f"{path}: nothing to draw: the file has no cells or no arrays")
    return Fields(result)


def values_to_draw(fields, name):
    values = fields.values(name)
    if not numpy.isfinite(values).all():
        raise vtu.BadFile(f"{fields.result.path}: {name} has values that are not finite")
    return values


def displacement(fields, name):
    """Returns the array of --warp as vectors in 3D; a scalar lifts a plane."""
    arrays = fields.result.point_arrays
    if name not in arrays:
        raise vtu.BadFile(f"{fields.result.path}: no array {name}; it has {', '.join(arrays)}")
    by = arrays[name].astype(float)
    if by.shape[1] == 1:
        if fields.dimension == 3:
            raise vtu.BadFile(f"--warp {name}: a scalar can only lift a plane picture; use a vector")
        by = numpy.hstack([0 * by, 0 * by, by])
    elif by.shape[1] == 2:
        by = numpy.hstack([by, 0 * by[:, :1]])
    if by.shape[1] != 3:
        raise vtu.BadFile(f"--warp {name}: the array is not a vector; use a vector")
    return by


def bounds(points):
    return numpy.array([points.min(axis=0), points.max(axis=0)])


class View:
    """What all pictures of a film share: the name of the `field`, its `extrema`, the `scale` of
    --warp (None without it), whether it lifts a plane, and the `box` that contains all bodies.

    @p sequence contains the fields of one or more results.
    """

    def __init__(self, sequence, options):
        self.field = options.field
        self.scale = None
        extrema, boxes, moves, largest = [], [], [], 0.
        for fields in sequence:
            self.field = self.field or fields.default()
            extrema.append(bounds(values_to_draw(fields, self.field)))
            boxes.append(bounds(fields.result.points.astype(float)))
            self.is_plane = fields.dimension == 2
            if options.warp:
                by = displacement(fields, options.warp)
                moves.append(bounds(by))
                largest = max(largest, numpy.linalg.norm(by, axis=1).max())
        self.extrema = tuple(map(float, bounds(numpy.concatenate(extrema))))
        self.box = bounds(numpy.concatenate(boxes))
        if options.warp:
            move = bounds(numpy.concatenate(moves))
            is_lifted = self.is_plane and move[:, 2].any()
            self.scale = options.scale
            if self.scale is None:
                part = 0.4 if is_lifted else 0.1
                self.scale = part * numpy.ptp(self.box, axis=0).max() / (largest or 1.)
                self.scale = float(f"{self.scale:.1e}")  # rounded, so that two digits print it exactly
            self.is_plane = self.is_plane and not is_lifted
            self.box = self.box + numpy.sort(self.scale * move, axis=0)
        self.box = self.box * numpy.array(options.stretch)


class Picture:
    """A field of a result on its deformed mesh, in a view; a picture of a film has a @p caption."""

    def __init__(self, fields, view, options, caption=None):
        self.fields, self.options, self.caption = fields, options, caption
        self.field, self.scale, self.is_plane = view.field, view.scale, view.is_plane
        values = values_to_draw(fields, self.field)
        self.extrema = float(values.min()), float(values.max())
        limits = tuple(options.range or view.extrema)
        self.exponent = scale.exponent_for(max(map(abs, limits)))  # power of ten of drawn numbers
        values = values / 10.**self.exponent
        self.grid = self.moved_grid()
        points = vtk_to_numpy(self.grid.GetPoints().GetData())
        self.box = view.box if caption else bounds(points)
        self.grid.GetPointData().Initialize()
        scalars = numpy_to_vtk(numpy.ascontiguousarray(values, dtype=float), deep=True)
        scalars.SetName("field")
        self.grid.GetPointData().SetScalars(scalars)
        self.range = tuple(limit / 10.**self.exponent for limit in limits)
        self.is_constant = not self.range[0] < self.range[1]
        if self.is_constant:  # a constant field needs a range, too
            middle = self.range[0]
            width = abs(middle) * 1e-3 or 1e-3
            self.range = (middle - width, middle + width)
        self.colours = self.colour_map()
        self.renderer = vtkRenderer()
        self.renderer.SetBackground(1., 1., 1.)
        self.lines = []  # actors of edges and contours
        self.labels = []
        self.add_field()
        self.add_colour_bar()
        self.add_notes()
        if options.labels:
            self.add_labels(values * 10.**self.exponent)
        self.place_camera()
        if options.axes:
            self.add_axes()

    def moved_grid(self):
        """Returns a copy of the grid with the points moved by --warp and --stretch."""
        grid = vtkUnstructuredGrid()
        grid.DeepCopy(self.fields.result.grid)
        points = self.fields.result.points.astype(float)
        if self.options.warp:
            points = points + self.scale * displacement(self.fields, self.options.warp)
        moved = vtkPoints()
        points = points * numpy.array(self.options.stretch)
        moved.SetData(numpy_to_vtk(numpy.ascontiguousarray(points), deep=True))
        grid.SetPoints(moved)
        return grid

    def colour_map(self):
        low, high = self.range
        diverging = low < 0 < high and min(-low, high) > 0.1 * max(-low, high)
        if diverging and not self.options.range:  # the middle colour means 0
            low, high = self.range = (-max(-low, high), max(-low, high))
        colours = DIVERGING if diverging else VIRIDIS
        function = vtkColorTransferFunction()
        for i, colour in enumerate(colours):
            function.AddRGBPoint(low + (high - low) * i / (len(colours) - 1), *rgb(colour))
        return function

    def mapper(self, polydata):
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(polydata)
        mapper.ScalarVisibilityOff()
        return mapper

    def add_lines(self, polydata, width, colour):
        actor = vtkActor()
        actor.SetMapper(self.mapper(polydata))
        actor.GetProperty().SetColor(*colour)
        actor.GetProperty().SetLineWidth(width * self.options.size[1] / 900)
        actor.GetProperty().LightingOff()
        self.renderer.AddActor(actor)
        self.lines.append(actor)

    def add_field(self):
        surface = vtkDataSetSurfaceFilter()
        surface.SetInputData(self.grid)
        surface.SetNonlinearSubdivisionLevel(2)  # cells of degree 2 and more are curved
        surface.Update()
        mapper = self.mapper(surface.GetOutput())
        mapper.ScalarVisibilityOn()
        mapper.SetLookupTable(self.colours)
        mapper.SetInterpolateScalarsBeforeMapping(True)
        actor = vtkActor()
        actor.SetMapper(mapper)
        actor.GetProperty().SetSpecular(0.)
        if self.is_plane:
            actor.GetProperty().LightingOff()
        else:
            actor.GetProperty().SetAmbient(0.55)
            actor.GetProperty().SetDiffuse(0.5)
        self.renderer.AddActor(actor)
        if self.options.edges:
            edges = vtkExtractEdges()  # of cells; the surface also has the edges of its triangles
            edges.SetInputData(self.grid)
            edges.Update()
            self.add_lines(edges.GetOutput(), 1., (0.1, 0.1, 0.1))
        if self.options.contours:
            contours = vtkContourFilter()
            contours.SetInputData(surface.GetOutput())
            low, high = self.range
            n = self.options.contours
            for i in range(n):
                contours.SetValue(i, low + (high - low) * (i + 1) / (n + 1))
            contours.Update()
            self.add_lines(contours.GetOutput(), 1.5, (0., 0., 0.))

    def unit(self):
        """Returns the drawn unit: `10^6 N/m²`, because VTK's font lacks most superscripts."""
        power = [f"10^{self.exponent}"] if self.exponent else []
        return " ".join(power + [self.fields.unit(self.field)]).strip()

    def add_colour_bar(self):
        """Adds the colour bar with the field's name, its unit and round numbers."""
        width, height = self.options.size
        unit = self.unit()
        size = max(8, height // 38)
        title = lines_of(self.fields.title(self.field), int(0.15 * width / (0.55 * size)))
        values, digits = scale.ticks(*self.range)
        if self.is_constant:
            values = [sum(self.range) / 2]
        numbers = vtkDoubleArray()
        for value in values:
            numbers.InsertNextValue(value)
        bar = vtkScalarBarActor()
        bar.SetLookupTable(self.colours)
        bar.SetTitle("\n".join(title + [f"[{unit}]"] * bool(unit)) + "\n ")
        bar.SetCustomLabels(numbers)
        bar.SetUseCustomLabels(True)
        bar.SetLabelFormat(f"%.{digits}f")
        bar.SetUnconstrainedFontSize(True)
        bar.SetBarRatio(0.25)
        bar.SetTextPad(max(3, height // 150))
        bar.SetPosition(0.84, 0.12)
        bar.SetPosition2(0.14, 0.76)
        bar.SetVerticalTitleSeparation(height // 60)
        for text in (bar.GetTitleTextProperty(), bar.GetLabelTextProperty()):
            black(text, size)
        bar.GetTitleTextProperty().SetLineSpacing(1.3)
        self.renderer.AddViewProp(bar)

    def add_notes(self):
        """Adds scales and extrema at the bottom, and the caption and a lack of convergence at the top."""
        height = self.options.size[1]
        low, high = (scale.plain(value / 10.**self.exponent) for value in self.extrema)
        said = [f"min {low}, max {high}" + (f" [{self.unit()}]" if self.unit() else "")]
        said += [] if self.scale is None else [f"{self.options.warp} x {self.scale:g}"]
        said += [f"{axis} x {factor:g}" for axis, factor in zip("xyz", self.options.stretch)
                 if factor != 1]
        self.add_text(", ".join(said), height // 40)
        warning = [] if self.fields.is_converged() else ["NOT CONVERGED: the best iterate, not a solution"]
        above = [self.caption] * bool(self.caption) + warning
        if above:
            self.add_text(", ".join(above), height - height // 40 - max(8, height // 30),
                          (0.8, 0., 0.) if warning else (0., 0., 0.), True)

    def add_text(self, text, bottom, colour=(0., 0., 0.), is_bold=False):
        height = self.options.size[1]
        note = vtkTextActor()
        note.SetInput(text)
        note.GetTextProperty().SetColor(*colour)
        note.GetTextProperty().SetBold(is_bold)
        note.GetTextProperty().SetFontSize(max(8, height // (30 if is_bold else 38)))
        note.SetPosition(height // 40, bottom)
        self.renderer.AddViewProp(note)

    def add_labels(self, values):
        """Writes each value next to the point that is nearest to the middle of the points with it."""
        points = vtk_to_numpy(self.grid.GetPoints().GetData())
        for value in numpy.unique(values):
            with_value = points[values == value]
            offsets = numpy.linalg.norm(with_value - with_value.mean(axis=0), axis=1)
            label = vtkBillboardTextActor3D()
            label.SetInput(f"{value:g}")
            label.SetPosition(*with_value[offsets.argmin()])  # place_camera() moves it to the front
            label.GetTextProperty().SetColor(0.8, 0., 0.)
            label.GetTextProperty().SetBold(True)
            label.GetTextProperty().SetFontSize(max(10, self.options.size[1] // 32))
            self.renderer.AddActor(label)
            self.labels.append(label)

    def add_axes(self):
        """Adds axes around the body, labelled with the coordinates before --stretch."""
        axes = vtkCubeAxesActor()
        axes.SetBounds(*self.box.T.flat)
        axes.SetCamera(self.renderer.GetActiveCamera())
        axes.SetFlyModeToOuterEdges()
        axes.SetScreenSize(0.009 * self.options.size[1])
        axes.SetTickLocationToOutside()
        axes.SetLabelScaling(False, 0, 0, 0)
        unit = self.fields.unit_of_length()
        lengths = numpy.ptp(self.box, axis=0)
        for i, axis in enumerate("XYZ"):
            low, high = self.box[:, i] / self.options.stretch[i]
            if lengths[i] < 0.45 * lengths.max():  # only the two ends of a short axis get numbers
                ends = [scale.plain(low), scale.plain(high)]
                labels = vtkStringArray()
                for text in [" to ".join(ends)] if lengths[i] < 0.1 * lengths.max() else ends:
                    labels.InsertNextValue(text)
                axes.SetAxisLabels(i, labels)
            getattr(axes, f"Set{axis}AxisRange")(low, high)
            getattr(axes, f"Set{axis}LabelFormat")("%g")
            getattr(axes, f"Set{axis}Title")(axis.lower() + (f" [{unit}]" if unit else ""))
            getattr(axes, f"Get{axis}AxesLinesProperty")().SetColor(0., 0., 0.)
            black(axes.GetTitleTextProperty(i))
            black(axes.GetLabelTextProperty(i))
        if self.fields.dimension == 2:  # no z axis: colours show the height of a warped plane
            axes.ZAxisVisibilityOff()
            axes.ZAxisLabelVisibilityOff()
            axes.SetZTitle("")
        self.renderer.AddActor(axes)

    def place_camera(self):
        """Places the camera so that the body, or the box of a film, fills the space next to the bar."""
        view = self.options.camera or ("z" if self.is_plane else "iso")
        towards = {"x": (1, 0, 0), "y": (0, -1, 0), "z": (0, 0, 1), "iso": (0.6, -1, 0.6)}[view]
        up = numpy.array((0., 1., 0.) if view == "z" else (0., 0., 1.))
        middle = self.box.mean(axis=0)
        back = numpy.array(towards, dtype=float)
        back /= numpy.linalg.norm(back)
        right = numpy.cross(up, back)
        right /= numpy.linalg.norm(right)
        top = numpy.cross(back, right)
        points = vtk_to_numpy(self.grid.GetPoints().GetData()) - middle
        if self.options.axes or self.caption:  # the axes surround the bounding box
            points = numpy.array(list(itertools.product(*self.box.T))) - middle
        x, y = points @ right, points @ top
        width, height = self.options.size
        if self.options.axes:  # space for numbers at the left, the bottom and, in 3D, the right
            size = max(numpy.ptp(x) * height / width, numpy.ptp(y))
            x = numpy.append(x, [x.min() - 0.15 * size, x.max() + 0.1 * size * (not self.is_plane)])
            y = numpy.append(y, y.min() - 0.15 * size)
        free = 0.80  # fraction of the width for the body; the bar takes the rest
        is_titled = self.caption or not self.fields.is_converged()
        below, above = 0.05, 0.07 if is_titled else 0.02  # fractions of the height for text
        half = max(numpy.ptp(y) / 2 / (1 - below - above),
                   numpy.ptp(x) / 2 * height / (free * width)) * 1.05
        centre = middle + right * (x.max() + x.min()) / 2 + top * (y.max() + y.min()) / 2
        centre = centre + right * half * width / height * (1 - free) - top * half * (below - above)
        for lines in self.lines:  # moves lines towards the viewer, in front of their surface
            lines.SetPosition(*(0.004 * half * back))
        for label in self.labels:
            label.SetPosition(*(numpy.array(label.GetPosition()) + 0.05 * half * back))
        distance = 4 * max(half, float(numpy.linalg.norm(numpy.ptp(self.box, axis=0))))
        camera = self.renderer.GetActiveCamera()
        camera.ParallelProjectionOn()
        camera.SetFocalPoint(*centre)
        camera.SetPosition(*(centre + distance * back))
        camera.SetViewUp(*top)
        camera.SetParallelScale(half if math.isfinite(half) and half > 0 else 1.)
        self.renderer.ResetCameraClippingRange()

    def drawn(self):
        """Returns the filter whose output is the drawn picture."""
        window = vtkRenderWindow()
        window.SetOffScreenRendering(1)
        window.SetMultiSamples(8)
        window.SetSize(*self.options.size)
        window.AddRenderer(self.renderer)
        window.Render()
        image = vtkWindowToImageFilter()
        image.SetInput(window)
        image.ReadFrontBufferOff()
        image.Update()
        return image

    def pixels(self):
        """Draws the picture; returns an array of height x width x 3 bytes."""
        image = self.drawn().GetOutput()
        width, height, _ = image.GetDimensions()
        pixels = vtk_to_numpy(image.GetPointData().GetScalars())
        return numpy.ascontiguousarray(pixels.reshape(height, width, 3)[::-1])

    def save(self, name):
        """Draws the picture, writes it to a temporary file next to @p name, and renames it."""
        writer = vtkPNGWriter()
        writer.SetCompressionLevel(9)
        partial = f"{name}.{os.getpid()}.partial"
        writer.SetFileName(partial)
        image = self.drawn()
        writer.SetInputConnection(image.GetOutputPort())
        os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
        with open(partial, "wb"):  # reports a bad path; VTK does not
            pass
        writer.Write()
        if writer.GetErrorCode():
            os.remove(partial)
            raise vtu.BadFile(f"{name}: could not be written; check the permissions and the free space")
        os.replace(partial, name)
