// SPDX-License-Identifier: Apache-2.0
// Choices come first, since they decide which further keys a table may hold; then each table is
// resolved as a whole; last come conditions between tables.
#include "tutti/recipe/make_job.h"

#include "tutti/recipe/conditions.h"
#include "tutti/recipe/tables.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace tutti {
namespace {

const Setting& setting_named(const std::vector<Setting>& declared, std::string_view name) {
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  check(found != declared.end(), "the setting is declared");
  return *found;
}

// The entry of the list that `key` of a table names.
template <class Entry>
const Entry& chosen(const Settings& given, const std::vector<Setting>& declared,
                    const std::string& key, const List<Entry>& list, const std::string& place) {
  const Setting& setting = setting_named(declared, key);
  if (!given.has(key) && setting.required)
    throw Error("{}: '{}' is missing{}", place, key, suggestion("", setting.choices));
  const SettingValue& value = given.has(key) ? given.values().find(key)->second : setting.initial;
  return list.find(std::get<std::string>(conform(setting, value, place)));
}

// Where --set has replaced the entry that a table chooses, the keys that only the old entry has are
// left out.
template <class Entry>
void leave_out_replaced(Recipe& recipe, const Lists& lists, const std::string& table,
                        const std::string& key, const List<Entry>& list,
                        std::vector<std::string>& remarks) {
  const auto replaced = recipe.replaced.find(fmt::format("{}.{}", table, key));
  if (replaced == recipe.replaced.end()) return;
  const std::vector<Setting> common = declared_settings(lists, table);
  Settings& given = recipe.tables[table];
  const Setting& setting = setting_named(common, key);
  const std::string& before = replaced->second.empty() && !setting.required
                                  ? std::get<std::string>(setting.initial)
                                  : replaced->second;
  const SettingValue now = given.values().find(key)->second;
  if (!list.has(before) || now == SettingValue(before)) return;
  std::vector<std::string> left_out;
  for (const Setting& old : list.find(before).settings) {
    const std::string name = fmt::format("{}.{}", table, old.name);
    if (!given.has(old.name) || recipe.replaced.count(name) > 0) continue;
    given.erase(old.name);
    left_out.push_back(name);
  }
  if (!left_out.empty())
    remarks.push_back(
        fmt::format("{}.{} is {} now; what the recipe said for \"{}\" is left out: {}", table, key,
                    to_string(now), before, fmt::join(left_out, ", ")));
}

// The tables of a recipe, with the settings that each may hold.
class Tables {
 public:
  Tables(const Recipe& recipe, const Lists& lists) : recipe_(recipe), lists_(lists) {
    for (const std::string& table : recipe_tables())
      declared_[table] = declared_settings(lists, table);
  }

  // The entry that `key` of [table] names. What the entry declares is allowed in the table from now
  // on.
  template <class Entry>
  const Entry& choose(const std::string& table, const std::string& key, const List<Entry>& list) {
    std::vector<Setting>& declared = declared_[table];
    const auto given = recipe_.tables.find(table);
    const Entry& entry = chosen(given == recipe_.tables.end() ? Settings() : given->second,
                                declared, key, list, place_of(recipe_, table, key));
    declared.insert(declared.end(), entry.settings.begin(), entry.settings.end());
    return entry;
  }

  // A recipe with layers of its own need not name a model.
  void name_own_layers() {
    if (recipe_.layers.empty()) return;
    Setting& name = declared_["model"][0];
    name.required = false;
    name.initial = std::string("layers");
    const auto given = recipe_.tables.find("model");
    if (given == recipe_.tables.end() || !given->second.has("name")) return;
    if (given->second.values().find("name")->second != name.initial)
      throw Error("{}: 'name' and [[model.layers]] are both there, expected one of them",
                  place_of(recipe_, "model", "name"));
  }

  Recipe resolve() const {
    Recipe resolved = recipe_;
    for (const auto& [table, declared] : declared_)
      resolved.tables[table] = resolve_table(recipe_, table, declared);
    for (std::size_t i = 0; i < recipe_.layers.size(); ++i)
      resolved.layers[i] = resolve_layer(recipe_, i, layer_settings(i));
    return resolved;
  }

 private:
  std::vector<Setting> layer_settings(std::size_t index) const {
    const Setting type{.name = "type",
                       .initial = std::string(),
                       .doc = "which layer",
                       .choices = lists_.layers.names(),
                       .required = true};
    const std::string name = fmt::format("model.layers[{}]", index);
    const auto origin = recipe_.origins.find(name + ".type");
    const auto whole = recipe_.origins.find(name);
    const std::string file = origin != recipe_.origins.end()  ? origin->second
                             : whole != recipe_.origins.end() ? whole->second
                                                              : recipe_.file;
    return table_settings(chosen(recipe_.layers[index], {type}, "type", lists_.layers,
                                 fmt::format("{}: [[model.layers]]", file)));
  }

  const Recipe& recipe_;
  const Lists& lists_;
  std::map<std::string, std::vector<Setting>> declared_;
};

// Hands the resolved tables [exchange] and [codec] to the scheme.
void take_settings(Job& job) {
  Scheme& scheme = job.scheme;
  scheme.settings = job.table("exchange");
  scheme.codec_settings = job.table("codec");
  scheme.fixed_order = scheme.settings.text("order") == "fixed";
  // 0: the default stays until the cost model has been asked (train/block_size.h).
  if (const std::int64_t bytes = scheme.settings.integer("block_bytes"); bytes > 0)
    scheme.block_bytes = bytes;
}

}  // namespace

Job make_job(const Recipe& given, const Lists& lists) {
  Recipe recipe = given;
  std::vector<std::string> remarks;
  const auto leave_out = [&](const char* table, const char* key, const auto& list) {
    leave_out_replaced(recipe, lists, table, key, list, remarks);
  };
  leave_out("model", "name", lists.models);
  leave_out("model", "loss", lists.losses);
  leave_out("data", "name", lists.datasets);
  leave_out("optimizer", "rule", lists.rules);
  leave_out("optimizer", "schedule", lists.schedules);
  leave_out("optimizer", "variance_reduction", lists.local_rules);
  leave_out("exchange", "gate", lists.gates);
  leave_out("exchange", "trigger", lists.triggers);
  leave_out("exchange", "store", lists.stores);
  leave_out("exchange", "payload", lists.payloads);
  leave_out("exchange", "merge", lists.merges);
  leave_out("codec", "name", lists.codecs);
  Tables tables(recipe, lists);
  tables.name_own_layers();
  const Model& model = tables.choose("model", "name", lists.models);
  const Loss& loss = tables.choose("model", "loss", lists.losses);
  const data::DatasetEntry& dataset = tables.choose("data", "name", lists.datasets);
  const Rule& rule = tables.choose("optimizer", "rule", lists.rules);
  const Schedule& schedule = tables.choose("optimizer", "schedule", lists.schedules);
  const LocalRule& local_rule = tables.choose("optimizer", "variance_reduction", lists.local_rules);
  Scheme scheme{.gate = tables.choose("exchange", "gate", lists.gates),
                .trigger = tables.choose("exchange", "trigger", lists.triggers),
                .store = tables.choose("exchange", "store", lists.stores),
                .payload = tables.choose("exchange", "payload", lists.payloads),
                .codec = tables.choose("codec", "name", lists.codecs),
                .merge = tables.choose("exchange", "merge", lists.merges)};
  Job job{.name = std::filesystem::path(recipe.file).stem().string(),
          .recipe = tables.resolve(),
          .lists = lists,
          .model = model,
          .loss = loss,
          .dataset = dataset,
          .rule = rule,
          .schedule = schedule,
          .local_rule = local_rule,
          .scheme = std::move(scheme)};
  take_settings(job);
  job.remarks = std::move(remarks);
  check_conditions(job, recipe);
  return job;
}

}  // namespace tutti
