/**
 * Which files other programs run later, outside the sandbox of a run, and what triggers that. A fact for the operator, not
 * a verdict.
 */

/** Triggers of places whose names do not show them. */
export const TRIGGERS = {
  repository: 'git, when you run it there or in a parent folder',
  git: 'git, at its next command',
  hook: 'git, at a commit or another command that has a hook',
  program: 'a shell or npm script that has the folder on its PATH',
  scripts: 'npm, pnpm, yarn, bun or a git hook, by these scripts and fields',
} as const

/**
 * By name at any depth. `*` is any text within a name. A slash at the end: everything in the folder. The first match
 * counts.
 */
const TABLE: readonly (readonly [trigger: string, patterns: string])[] = [
  [TRIGGERS.repository, '.git'],
  [
    TRIGGERS.git,
    '.gitattributes .gitmodules .gitconfig .lfsconfig .config/git/config .config/git/attributes',
  ],
  [TRIGGERS.hook, '.husky/ .githooks/ .git-hooks/ .git_hooks/ .hooks/ githooks/ git-hooks/'],
  [
    'a hook manager, at a commit',
    `.pre-commit-config.yaml .pre-commit-hooks.yaml *lefthook.* lefthook-local.* .lefthook/ .lintstagedrc*
    lint-staged.config.* .overcommit.yml .huskyrc* .simple-git-hooks.* simple-git-hooks.* .lefthook-local.*`,
  ],
  ['direnv or autoenv, when you enter the folder', '.envrc .envrc.* .autoenv* .env.zsh'],
  [
    'a version manager, when you enter the folder',
    `.tool-versions mise.toml .mise.toml mise.*.toml .mise.*.toml mise/config*.toml .config/mise/ .config/mise.toml .mise/ .rtx.toml .nvmrc .node-version
    .python-version .ruby-version .java-version .go-version .sdkmanrc rust-toolchain rust-toolchain.toml .prototools
    .asdfrc`,
  ],
  [
    'a shell, when it starts',
    `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .cshrc .tcshrc .login .inputrc .config/fish/ .xprofile .xinitrc .xsessionrc
    .tmux.conf .screenrc .pam_environment .config/environment.d/`,
  ],
  ['a shell, when you activate the environment', 'bin/activate bin/activate.* activate.d/'],
  [TRIGGERS.program, '.bin/* bin/* sbin/* Scripts/*'],
  [
    'the system, on a schedule or at your login',
    '.config/systemd/ .config/autostart/ .ssh/rc .ssh/config .ssh/authorized_keys LaunchAgents/ crontab .crontab',
  ],
  [
    'an agent, in the folder',
    `.claude/ .claude.json .claude-plugin/ CLAUDE.md CLAUDE.local.md .mcp.json mcp.json .codex/ AGENTS.md
    AGENTS.override.md AGENT.md .agents/ .agent/ .gemini/ GEMINI.md .cursor/ .cursorrules
    opencode.json opencode.jsonc .opencode/ .github/copilot-instructions.md .github/copilot/ .github/instructions/
    .github/prompts/ .github/agents/ .github/chatmodes/ .github/hooks/ .github/extensions/ .github/skills/
    .github/mcp.json .github/lsp.json .copilot/ .windsurf/ .windsurfrules .clinerules .clinerules/ .cline/ .roo/
    .roorules .roomodes .kilocode/ .aider.conf.* .aider.model* .continue/ .continuerc.json .kiro/ .amazonq/ .junie/ .trae/ .goose/
    .goosehints .augment/ .augment-guidelines .qwen/ QWEN.md crush.json .crush.json WARP.md .rules SKILL.md
    .factory/`,
  ],
  ['Casefile, at the next session', 'casefile.md allowed_signers'],
  [
    'an editor, when it opens the folder',
    `.vscode/ *.code-workspace .idea/ .run/ .fleet/ .zed/ .devcontainer/ .devcontainer.json .gitpod.yml
    nbproject/ .vs/ .project tsconfig*.json .replit *.sublime-project .helix/ .theia/ .config/nvim/ .vimrc .exrc .nvimrc .nvim.lua
    .lvimrc .local.vimrc .nvim/ .vim/ .dir-locals.el .dir-locals-2.el .emacs.d/ .projectile .kakrc .kakoune/
    .nova/`,
  ],
  ['another version control system, at its next command', '.hg/hgrc .hgrc .jj/'],
  [
    'a debugger or console, in the folder',
    '.gdbinit .gdbinit-* .lldbinit .pdbrc .ipython/ ipython_config.py .jupyter/ .irbrc .pryrc .rdebugrc .psqlrc .sqliterc .Rprofile .Renviron .iex.exs .ghci',
  ],
  [
    'Python, when it starts or runs tests',
    `conftest.py sitecustomize.py usercustomize.py *.pth *.egg-link pytest.ini .pytest.ini tox.ini noxfile.py
    pyvenv.cfg .coveragerc`,
  ],
  [
    'Python packaging, when it builds or installs',
    `setup.py setup.cfg pyproject.toml hatch_build.py pdm_build.py build_backend.py pip.conf pip.ini
    uv.toml .pdm.toml poetry.toml`,
  ],
  [
    'a package manager, at its next command',
    `.npmrc .yarnrc .yarnrc.yml .yarn/releases/ .yarn/plugins/ .yarn/sdks/ .pnp.* .pnpmfile.* pnpmfile.* pnpm-workspace.yaml bunfig.toml .bunfig.toml
    binding.gyp deno.json deno.jsonc .gemrc .bundle/config .bundle/plugin/ composer.json NuGet.config nuget.config Pipfile Gemfile gems.rb *.gemspec Brewfile mix.exs rebar.config Package.swift pubspec.yaml`,
  ],
  [
    'a package manager, at the next install',
    `package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock Cargo.lock
    poetry.lock uv.lock pdm.lock pylock.toml pylock.*.toml Pipfile.lock requirements*.txt requirements/ constraints*.txt
    Gemfile.lock gems.locked composer.lock go.mod go.sum go.work go.work.sum mix.lock pubspec.lock packages.lock.json
    gradle.lockfile verification-metadata.xml Package.resolved Podfile Podfile.lock Cartfile Cartfile.resolved
    flake.lock`,
  ],
  [
    'cargo, at the next build',
    'build.rs Cargo.toml .cargo/ config.nextest.toml .config/nextest.toml',
  ],
  [
    'gradle, mvn, sbt or ant, at the next build',
    `gradle/wrapper/ gradle/*.toml gradle/*.gradle gradlew gradlew.bat *.gradle *.gradle.kts gradle.properties .gradle/init.d/ buildSrc/ mvnw mvnw.cmd .mvn/
    pom.xml build.sbt project/*.sbt project/*.scala project/build.properties .sbtopts .jvmopts build.xml build.sc
    build.mill`,
  ],
  [
    'bazel, buck or pants, at the next build',
    `.bazelrc *.bazelrc .bazelversion .bazeliskrc tools/bazel WORKSPACE WORKSPACE.* MODULE.bazel MODULE.bazel.lock
    BUILD BUILD.* *.bzl pants.toml .pants.* pants`,
  ],
  [
    'make or another task runner',
    `Makefile makefile GNUmakefile *.mk justfile Justfile JUSTFILE .justfile *.just Taskfile* taskfile*
    Rakefile rakefile Jakefile* Guardfile Thorfile Dangerfile Fastfile fastlane/ SConstruct SConscript wscript
    tasks.py fabfile.py dodo.py invoke.yaml magefile.go magefiles/ Earthfile Tiltfile Snakefile Procfile*
    build.zig build.zig.zon dune dune-project xmake.lua premake5.lua CMakeLists.txt *.cmake
    CMakePresets.json CMakeUserPresets.json meson.build meson_options.txt meson.options configure configure.ac
    Build.PL Makefile.PL Directory.Build.* Directory.Packages.props global.json dotnet-tools.json project.pbxproj *.xcscheme autogen.sh Setup.hs
    Setup.lhs *.cabal stack.yaml cabal.project* *.csproj *.fsproj *.vbproj
    angular.json package.yaml .czrc .tmuxinator.yml .php-cs-fixer*
    nx.json turbo.json lerna.json rush.json moon.yml .moon/* project.json
    nodemon.json .nodemonrc* .air.toml bacon.toml`,
  ],
  [
    'the tool that reads it as a program, at its next start',
    `*.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts *.config.jsx *.config.tsx .*rc.js
    .*rc.cjs .*rc.mjs .*rc.ts *.conf.js *.conf.cjs *.conf.mjs *.conf.ts *.setup.js *.setup.ts gulpfile.* Gulpfile.*
    Gruntfile.* gruntfile.* .eslintrc* .prettierrc* .babelrc* babel.config.* jest.config.* .mocharc* .taprc* .nycrc*
    .swcrc .postcssrc* .stylelintrc* .releaserc* .commitlintrc* .rspec .rubocop*
    .luacheckrc .proverc phpunit.xml*
    .htaccess .pylintrc pylintrc mypy.ini .mypy.ini .flake8 .ruff.toml ruff.toml .golangci.*
    .credo.exs .formatter.exs artisan bin/rails config/boot.rb vitest.workspace.*`,
  ],
  [
    'CI, at the next push',
    `.github/workflows/ .github/actions/ .github/dependabot.yml .github/dependabot.yaml action.yml action.yaml
    .gitlab-ci.yml .gitlab-ci.yaml *.gitlab-ci.yml .gitlab/ .circleci/ .travis.yml azure-pipelines* .azure-pipelines/
    .azuredevops/ Jenkinsfile* bitbucket-pipelines.yml .drone.* .woodpecker* .woodpecker/ .buildkite/ appveyor.yml
    .appveyor.yml .cirrus.* .semaphore/ cloudbuild.* .teamcity/ .forgejo/ .gitea/ .builds/ .build.yml .tekton/
    .harness/ buildspec* wercker.yml renovate.json .renovaterc*
    netlify.toml vercel.json fly.toml render.yaml .platform.app.yaml .readthedocs.*
    wrangler.toml wrangler.json wrangler.jsonc serverless.* .goreleaser.* release-please-config.json`,
  ],
  [
    'docker or a virtual machine, at the next start',
    `Dockerfile* *.Dockerfile *.dockerfile Containerfile* docker-compose* compose.yml compose.yaml compose.*.yml
    compose.*.yaml docker-bake.* Vagrantfile skaffold.yaml devspace.yaml .ddev/ .lando.yml
    ansible.cfg *.tf *.tofu terragrunt.hcl dagger.json`,
  ],
  [
    'nix, when you enter the folder or build',
    'flake.nix shell.nix default.nix devenv.nix devenv.yaml devenv.lock devbox.json devbox.lock',
  ],
  [
    'a program that loads it, as its environment',
    '.env .env.* .flaskenv .node_options .jrubyrc .netrc .my.cnf',
  ],
]

/** Triggers that need the least action come first. */
export const TRIGGER_ORDER: readonly string[] = [
  ...new Set([...TABLE.map(([trigger]) => trigger), ...Object.values(TRIGGERS)]),
]

/** Places in the home folder; a slash at the end: everything in the folder. The table has all of them. */
export const HOME_FILES: readonly string[] =
  `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
.inputrc .gitconfig .config/git/config .config/git/attributes .config/fish/config.fish .npmrc .yarnrc.yml .tool-versions
.config/mise/config.toml .cargo/config.toml .ssh/config .ssh/rc .ssh/authorized_keys .envrc .tmux.conf .vimrc
.config/nvim/init.lua .claude/settings.json .claude/CLAUDE.md .claude.json .codex/config.toml .codex/AGENTS.md
.gemini/settings.json .gemini/GEMINI.md .config/opencode/opencode.json .config/autostart/ .config/systemd/user/
.config/fish/conf.d/ .local/bin/ bin/`.split(/\s+/)

const NAMES = new Map<string, string>()
const FOLDERS = new Map<string, string>()
/** Patterns with a wildcard, or of more than one name. */
const OTHERS: { trigger: string; patterns: string[] }[] = []
for (const [trigger, patterns] of TABLE) {
  const others: string[] = []
  for (const each of patterns.split(/\s+/)) {
    if (/[*]|\/./.test(each)) others.push(each)
    else if (each.endsWith('/'))
      FOLDERS.set(each.slice(0, -1), FOLDERS.get(each.slice(0, -1)) ?? trigger)
    else NAMES.set(each, NAMES.get(each) ?? trigger)
  }
  OTHERS.push({ trigger, patterns: others })
}

function compilePatterns(patterns: readonly string[]): RegExp {
  const each = patterns.map((pattern) => {
    const text = pattern.replace(/[.+]/g, '\\$&').replaceAll('*', '[^/]*')
    return text.endsWith('/') ? `${text}.+` : text
  })
  return new RegExp(`(?:^|/)(?:${each.join('|')})$`)
}

type Others = { trigger: string; pattern: RegExp }[]
const BY_ENDS = new Map<string, Others>()

/** Those that can match a name with these first and last characters: testing all for each of many files takes long. */
function othersFor(name: string): Others {
  const [first = '', last = ''] = [name.at(0), name.at(-1)]
  const found = BY_ENDS.get(first + last)
  if (found) return found
  const others = OTHERS.flatMap(({ trigger, patterns }) => {
    const some = patterns.filter((each) => {
      const end = each.slice(each.lastIndexOf('/') + 1)
      const isStart = end[0] === '*' || end[0] === first
      return end === '' || (isStart && (end.endsWith('*') || end.endsWith(last)))
    })
    return some.length === 0 ? [] : { trigger, pattern: compilePatterns(some) }
  })
  BY_ENDS.set(first + last, others)
  return others
}

/** Returns what runs a file later; null if nothing does by its place. */
export function findTrigger(path: string): string | null {
  const folders = path.split('/')
  const name = folders.pop()!
  const exact = NAMES.get(name)
  if (exact !== undefined) return exact
  for (const folder of folders) {
    const all = FOLDERS.get(folder)
    if (all !== undefined) return all
  }
  return othersFor(name).find(({ pattern }) => pattern.test(path))?.trigger ?? null
}
