// SPDX-License-Identifier: Apache-2.0
// The command line. Every error ends here, as one line and an exit code.
#include "cli/commands.h"
#include "tutti/core/list.h"
#include "tutti/core/memory.h"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace tutti::cli {
namespace {

enum ExitCode { failed = 1, wrong_usage = 2, internal_error = 3 };

constexpr const char* footer = R"(Examples:
  tutti train                    LeNet on handwritten digits, then
  tutti predict IMAGE.png        what it sees in a picture
  tutti list recipes             what else comes with it: tutti train NAME
  tutti show lenet
  tutti COMMAND --help           options and examples of a command

Exit codes: 0 done, 1 the run failed, 2 the command line or the recipe is wrong, 3 a bug of tutti,
128 + N stopped by signal N: 130 by Ctrl-C, 143 by SIGTERM, 138 by SIGUSR1, 129 by SIGHUP.)";

List<Command> commands() {
  return {"command",
          {train_command, launch_command, eval_command, predict_command, show_command, tune_command,
           list_command, calibrate_command, bench_command, data_command, tucker_command,
           stack_command, report_command}};
}

CLI::App& innermost(CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed[0]);
}

// The words that call a command, "tutti data get".
std::string words_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "tutti" : words_of(*app.get_parent()) + " " + app.get_name();
}

std::string reason(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extra = app.remaining();
  if (extra.empty() || dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr)
    return error.what();
  if (!extra[0].starts_with("-")) return fmt::format("'{}' is one word too many", extra[0]);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return fmt::format("unknown option '{}'{}", extra[0], suggestion(extra[0], names));
}

int run(int argc, char** argv) {
  const List<Command> all = commands();
  CLI::App app("Trains neural networks in parallel.");
  app.set_version_flag("--version", "tutti " TUTTI_VERSION);
  app.footer(footer);
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, std::function<int()>>> actions;
  for (const Command& command : all) {
    CLI::App* sub = app.add_subcommand(command.name, command.doc);
    actions.emplace_back(sub, command.add(*sub));
  }
  if (argc > 1 && argv[1][0] != '-') as_usage([&] { return all.find(argv[1]); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    const CLI::App& used = innermost(app);
    throw UsageError("{} (see {} --help)", reason(used, error), words_of(used));
  }
  for (const auto& [sub, action] : actions)
    if (sub->parsed()) return action();
  fmt::print("{}", app.help());
  return 0;
}

int fail(ExitCode code, std::string message) {
  std::fflush(stdout);  // so that earlier output comes first
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "tutti: {}\n", message);
  return code;
}

int run_and_report(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0) throw Error("can't write the output: {}", std::strerror(errno));
    return code;
  } catch (const UsageError& error) {
    return fail(wrong_usage, error.what());
  } catch (const std::bad_alloc& error) {
    return fail(failed, failure_text(error));
  } catch (const std::logic_error& error) {
    return fail(internal_error, fmt::format("{}; this is a bug, please report it", error.what()));
  } catch (const std::exception& error) {
    return fail(failed, failure_text(error));
  }
}

}  // namespace
}  // namespace tutti::cli

// Opens standard input, output and error where they are closed. Otherwise a file that is opened
// later could get the number of standard output, and would be printed into.
void open_standard_files() {
  for (int file = ::open("/dev/null", O_RDWR); file >= 0; file = ::open("/dev/null", O_RDWR))
    if (file > STDERR_FILENO) {
      ::close(file);
      return;
    }
}

int main(int argc, char** argv) {
  open_standard_files();
  // Without this the signal would end the process at a limit on file sizes; now the write fails
  // with an error, as with a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return tutti::cli::run_and_report(argc, argv);
}
