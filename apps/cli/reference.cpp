#include "apps/cli/reference.hpp"

#include <map>

namespace costate {

namespace {

// Text with a backslash before each of the given characters.
std::string escaped(const std::string& text, const char* characters) {
    std::string out;
    for (const char c : text) {
        if (std::string(characters).find(c) != std::string::npos) out += '\\';
        out += c;
    }
    return out;
}

// Text of a manual page. Hyphens are written as minus signs, which can be searched and copied.
std::string man_text(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string man_option(const Option& o) {
    std::string out = ".TP\n.B ";
    if (o.letter) out += "\\-" + std::string(o.letter) + ", ";
    out += "\\-\\-" + man_text(o.name);
    if (o.value) out += " \\fI" + man_text(o.value) + "\\fR";
    return out + "\n" + man_text(o.help) + "\n";
}

// The words of the options of a command.
std::string words(const Command& command) {
    std::string out;
    for (const Option& o : all_options(command))
        out += std::string(out.empty() ? "" : " ") + "--" + o.name;
    return out;
}

// Options whose values are files or folders, and those with any other value, by their placeholders.
bool is_file(const Option& o) {
    const std::string value = o.value ? o.value : "";
    return value == "FILE" || value == "DIR" || value == "DIRS";
}

const char* const names_of_scenes =
    R"(for folder in ${COSTATE_SCENES:-} "${costate%/*}/../share/costate/scenes" "${costate%/*}/share/costate/scenes"; do)";

}  // namespace

std::string man_page(const std::vector<const Command*>& commands) {
    std::string out =
        ".TH COSTATE 1 \"\" \"costate " COSTATE_VERSION_TEXT
        "\" \"User Commands\"\n"
        ".SH NAME\ncostate \\- differentiable simulation of articulated rigid bodies with contact\n"
        ".SH SYNOPSIS\n.B costate\n.I COMMAND SCENE\n[\\fIOPTION\\fR...]\n.br\n.B costate \\-\\-version\n"
        ".SH DESCRIPTION\ncostate simulates articulated rigid bodies with contact and computes the exact "
        "gradient of a whole rollout. \\fISCENE\\fR is a scene or model in JSON, a robot in URDF, MJCF or "
        "SDFormat, or the name of an included scene, of which \\fBcostate \\-\\-help\\fR prints a list.\n"
        ".SH COMMANDS\n";
    for (const Command* c : commands) {
        out += ".SS costate " + man_text(c->name) + " \\fI" + operands(*c) + "\\fR [\\fIOPTION\\fR...]\n" +
               man_text(c->summary) + "\n";
        for (const Option& o : c->options)
            out += man_option(o);
        out += ".PP\nExample: \\fB" + man_text(c->example) + "\\fR\n";
    }
    out += ".SH OPTIONS OF ALL COMMANDS\n";
    for (const OptionGroup& group : shared_options()) {
        out += std::string(".SS ") + group.heading + "\n";
        for (const Option& o : group.options)
            out += man_option(o);
    }
    out += ".SH EXIT STATUS\n";
    for (const ExitCode code : {done, check_failed, bad_input, diverged, interrupted})
        out += ".TP\n" + std::to_string(code) + "\n" + meaning(code) + "\n";
    out +=
        ".SH ENVIRONMENT\n.TP\n.B COSTATE_SCENES\n"
        "A folder in which named scenes are looked up before the included ones.\n"
        ".TP\n.B COSTATE_CHROMIUM\nThe browser that writes images, instead of the first Chromium in the "
        "PATH.\n"
        ".TP\n.B NO_COLOR\nIf it is set, messages on a terminal have no colors.\n"
        ".SH EXAMPLES\n.nf\ncostate optimize throw \\-\\-out out/throw\n"
        "costate gradcheck go1_stand\ncostate convert robot.urdf \\-o robot.json\n.fi\n";
    return out;
}

std::string bash_completion(const std::vector<const Command*>& commands) {
    std::string names, cases, files;
    std::map<std::string, bool> with_value;  // by the option's name: whether the value is a file
    for (const Command* c : commands) {
        names += std::string(names.empty() ? "" : " ") + c->name;
        cases += "        " + std::string(c->name) + ") options='" + words(*c) + "' ;;\n";
        for (const Option& o : all_options(*c))
            if (o.value) with_value[o.name] |= is_file(o);
    }
    std::string other;
    for (const auto& [name, file] : with_value)
        (file ? files : other) += (((file ? files : other).empty() ? "--" : "|--")) + name;
    return "# Completion of costate for bash, written by costate --completion bash\n"
           "_costate() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} costate options "
           "folder\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        COMPREPLY=($(compgen -W '" +
           names +
           " --help --version' -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case $previous in\n"
           "        " +
           files +
           "|-o) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
           "        --base) COMPREPLY=($(compgen -W 'fixed floating' -- \"$word\")); return ;;\n"
           "        " +
           other +
           ") return ;;\n"
           "    esac\n"
           "    case ${COMP_WORDS[1]} in\n" +
           cases +
           "        *) return ;;\n"
           "    esac\n"
           "    if [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "    costate=$(readlink -f -- \"$(type -P -- \"${COMP_WORDS[0]}\")\")\n"
           "    " +
           names_of_scenes +
           "\n"
           "        [[ -d $folder ]] && COMPREPLY+=($(cd \"$folder\" && compgen -f -X '!*.json' -- \"$word\" "
           "|\n"
           "            sed -n 's/\\.json$//; /\\.schema$/d; p'))\n"
           "    done\n"
           "}\n"
           "complete -o filenames -F _costate costate\n";
}

std::string zsh_completion(const std::vector<const Command*>& commands) {
    const auto spec = [](const Option& o) {
        // '(-o --out)'{-o,--out}'[help]:value:_files'; ' and [ ] : \ have a meaning there
        const std::string name = "--" + std::string(o.name);
        std::string help;
        for (const char c : escaped(o.help, "[]:\\"))
            help += c == '\'' ? std::string("'\\''") : std::string(1, c);
        std::string rest = "[" + help + "]";
        if (o.value) rest += std::string(":") + o.value + ":" + (is_file(o) ? "_files" : "");
        if (std::string(o.name) == "base") rest += "(fixed floating)";
        return o.letter ? "'(-" + std::string(o.letter) + " " + name + ")'{-" + o.letter + "," + name + "}'" +
                              rest + "'"
                        : "'" + name + rest + "'";
    };
    std::string list, cases;
    for (const Command* c : commands) {
        list += "        '" + std::string(c->name) + ":" + escaped(c->summary, ":\\") + "'\n";
        cases += "        " + std::string(c->name) + ")\n            options=(\n";
        for (const Option& o : all_options(*c))
            cases += "                " + spec(o) + "\n";
        cases += "            ) ;;\n";
    }
    for (size_t at = 0; (at = list.find("'s", at)) != std::string::npos; at += 5)
        list.replace(at, 2, "'\\''s");  // an apostrophe within quotes
    return "#compdef costate\n# Completion of costate for zsh, written by costate --completion zsh\n"
           "_costate() {\n"
           "    local -a commands options scenes\n"
           "    local costate folder\n"
           "    commands=(\n" +
           list +
           "    )\n"
           "    if ((CURRENT == 2)); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    costate=${$(whence -p costate):A}\n"
           "    " +
           names_of_scenes +
           "\n"
           "        [[ -d $folder ]] && scenes+=($folder/*.json(N:t:r))\n"
           "    done\n"
           "    scenes=(${scenes:#*.schema})\n"
           "    case $words[2] in\n" +
           cases +
           "        *) return ;;\n"
           "    esac\n"
           "    shift words\n"
           "    ((CURRENT--))\n"
           "    _arguments -s $options '1:scene:{_alternative \"scenes:included scene:($scenes)\" "
           "\"files:file:_files\"}'\n"
           "}\n"
           "_costate \"$@\"\n";
}

}  // namespace costate
