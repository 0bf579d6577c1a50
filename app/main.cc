#include "app/program.h"

int main(int argc, char **argv)
{
  return femgpu::run_program(argc, argv);
}
