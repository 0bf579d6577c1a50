// A library with the version of cuDSS 0.7.1, and nothing else.
extern "C" int cudssGetProperty(const int type, int *const value)
{
  constexpr int version[] = {0, 7, 1};
  *value = version[type];
  return 0;
}
