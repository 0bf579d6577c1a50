// A library that NVTX loads instead of a profiler (NVTX_INJECTION64_PATH). Prints the ranges of the
// program to standard error, each indented by its depth.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace
{
thread_local int depth = 0;

int push(const char *const name)
{
  std::fprintf(stderr, "%*s%s\n", 2 * depth, "", name);
  return depth++;
}

int pop()
{
  return --depth;
}
} // namespace

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const NvtxGetExportTableFunc_t get_export_table)
{
  const auto *const callbacks =
      static_cast<const NvtxExportTableCallbacks *>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE_RangePop)
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
