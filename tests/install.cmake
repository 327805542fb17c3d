# Installs into a folder of the build tree, trains there by the names of recipes and machines, then configures,
# builds and runs each example against it, as somebody who uses the library would.
#   cmake -D build=… -D examples=… -D flags=… -P install.cmake
set(prefix ${build}/install_test/prefix)
file(REMOVE_RECURSE ${build}/install_test)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
if(EXISTS ${prefix}/bin/tutti)
  file(MAKE_DIRECTORY ${build}/install_test/work)
  foreach(arguments "train;schemes/async;--set;train.steps=2" "train;lenet;--simulate;--machine;ethernet10"
                    "list;recipes;bf16")
    run(${CMAKE_COMMAND} -E chdir ${build}/install_test/work ${prefix}/bin/tutti ${arguments})
  endforeach()
endif()
foreach(example own_data own_model own_operator)
  set(folder ${build}/install_test/${example})
  run(${CMAKE_COMMAND} -G Ninja -S ${examples}/${example} -B ${folder} -D CMAKE_BUILD_TYPE=Release
      -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_FLAGS=${flags})
  run(${CMAKE_COMMAND} --build ${folder})
  run(${folder}/${example})
endforeach()
