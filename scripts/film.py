"""Films of render.py: a picture for each entry of a .pvd or .vtkhdf.series, as .gif or .webm."""

import os
import subprocess
import tempfile

import numpy

import scale
import vtu
from picture import Picture, View, fields_to_draw

MOST_COLOURS = 256  # of a .gif


def captions(name, times):
    """Returns `t = 0.50`, …: with the same number of decimal places and the same power of ten."""
    exponent = scale.exponent_for(max(map(abs, times)))
    numbers = [time / 10.**exponent for time in times]
    digits = 4
    while digits and all(round(number, digits - 1) == round(number, digits) for number in numbers):
        digits -= 1
    power = f"e{exponent}" if exponent else ""
    return [f"{name} = {number:.{digits}f}{power}" for number in numbers]


class Film:
    """The pictures of a film: `frame(i)` is an array of height x width x 3 bytes."""

    def __init__(self, path, options):
        entries = vtu.entries_of_collection(path)
        if len(entries) < 2:
            raise vtu.BadFile(f"{path}: --film needs at least two entries, but it has {len(entries)}; "
                              f"set Time/Output times to write more")
        self.options = options
        self.files = [file for _, file in entries]
        try:
            times = [float(time) for time, _ in entries]
        except ValueError as error:
            raise vtu.BadFile(f"{path}: {error}") from error
        self.captions = captions(fields_to_draw(self.files[0]).time_name(), times)
        self.view = View(map(fields_to_draw, self.files), options)

    def frame(self, i):
        return Picture(fields_to_draw(self.files[i]), self.view, self.options,
                       self.captions[i]).pixels()

    def frames(self):
        return map(self.frame, range(len(self.files)))


def write_gif(film, name, fps):
    """Writes a .gif with the same colours in all frames, so that they do not flicker."""
    try:
        from PIL import Image
    except ImportError as error:
        raise vtu.BadFile(f"{error}: a .gif needs Pillow; install python3-pil, or write a .webm") from error
    last = len(film.files) - 1
    some = [Image.fromarray(film.frame(i)) for i in sorted({0, last // 2, last})]
    width, height = some[0].size
    sheet = Image.new("RGB", (width, height * len(some)))
    for i, image in enumerate(some):
        sheet.paste(image, (0, i * height))
    palette = sheet.quantize(MOST_COLOURS, Image.MAXCOVERAGE)
    colours = numpy.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) > 244] = 255  # the background, which the quantizer makes grey
    palette.putpalette(colours.flatten().tolist())
    images = (Image.fromarray(frame).quantize(palette=palette, dither=Image.NONE)
              for frame in film.frames())
    next(images).save(name, "GIF", save_all=True, append_images=images, duration=1000 / fps, loop=0)


def write_webm(film, name, fps):
    width, height = film.options.size
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s",
               f"{width}x{height}", "-r", f"{fps:g}", "-i", "-", "-c:v", "libvpx-vp9", "-crf", "24",
               "-b:v", "0", "-pix_fmt", "yuv420p", "-f", "webm", f"file:{name}"]
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors) as process:
            try:
                for frame in film.frames():
                    process.stdin.write(frame.tobytes())
                process.stdin.close()
            except BrokenPipeError:  # ffmpeg ended early and has written why
                pass
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise vtu.BadFile(f"ffmpeg failed: {lines[-1]}; write a .gif")


def save(path, options):
    """Writes the film of a .pvd or .vtkhdf.series; returns its name."""
    film = Film(path, options)
    name = options.output or os.path.join(os.path.dirname(path), f"{film.view.field}.gif")
    partial = f"{name}.{os.getpid()}.partial"
    os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
    try:
        (write_gif if name.endswith(".gif") else write_webm)(film, partial, options.fps)
        os.replace(partial, name)
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    return name
