# add_level(name options): an object library level_<name> of all kernels, for processors of that level.
# `suffice_levels` lists the names. What includes this file may set `common`, options of all sources.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
option(SUFFICE_WERROR "Warnings are errors" OFF)
option(SUFFICE_SANITIZE "Watch addresses and undefined behaviour" OFF)
set(SUFFICE_SANITIZED_LEVELS v2 v3 v4 base CACHE STRING "Levels that are watched, if SUFFICE_SANITIZE is on")

set(common -Wall -Wextra -Wno-psabi $<$<BOOL:${SUFFICE_WERROR}>:-Werror>)
if(SUFFICE_SANITIZE)
  set(watched -fsanitize=address,undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

# For each: room/name.hpp says what, room/name.cpp how, and bindings/name.cpp checks the arrays of Python.
set(kernels
    sums/bins sums/columns sums/comoments sums/counts sums/moments sums/pair_counts sums/sums
    scores/distances scores/linear scores/piecewise scores/posterior scores/scores scores/squares
    densities/cuts densities/densities
    linear/coordinate linear/descent linear/eigen linear/factor linear/gram linear/logistic linear/sweep
    searchlight/searchlight support/elementary)

# Compiled once, for any processor.
set(suffice_common support/memory.cpp support/interrupts.cpp)
list(TRANSFORM suffice_common PREPEND ${CMAKE_CURRENT_LIST_DIR}/)

# Floating point as written: a product and a sum are fused where the source says so, nowhere else.
set(exact -ffp-contract=off -fno-math-errno -fno-trapping-math -fvisibility=hidden)
set(optimise -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND optimise -fvect-cost-model=dynamic)  # loops become vectors, as Clang has it at -O2
  # GCC 12 warns of its own intrinsics of AVX-512, which begin with an undefined register.
  list(APPEND optimise -Wno-maybe-uninitialized)
endif()

function(add_level name)
  set(sources support/tile_reader.cpp)  # what several kernels share
  foreach(kernel IN LISTS kernels)
    list(APPEND sources ${kernel}.cpp)
  endforeach()
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/)
  add_library(level_${name} OBJECT ${sources})
  target_include_directories(level_${name} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  target_compile_definitions(level_${name} PRIVATE LEVEL=${name})
  target_compile_options(level_${name} PRIVATE ${common} ${optimise} ${exact} ${ARGN})
  if(name IN_LIST SUFFICE_SANITIZED_LEVELS)
    target_compile_options(level_${name} PRIVATE ${watched})
  endif()
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(suffice_levels v2 v3 v4)
  add_level(v2 -march=x86-64-v2)
  add_level(v3 -march=x86-64-v3)
  add_level(v4 -march=x86-64-v4 -mprefer-vector-width=512)
else()
  set(suffice_levels base)
  add_level(base)
endif()
