import t from 'tap'
import { findTrigger, HOME_FILES } from '../../src/model/later-table.ts'
import {
  describeRunsLater,
  describeTrigger,
  runsLater,
  stampPackage,
  UNCHECKED,
} from '../../src/model/runs-later.ts'

const STARTS: Record<string, RegExp> = {
  'sub/.gitattributes .gitmodules': /^git/,
  '.husky/_/husky.sh packages/a/.githooks/pre-push': /hook/,
  '.pre-commit-config.yaml lefthook.yml .lintstagedrc.json': /hook manager/,
  '.envrc a/b/.envrc': /direnv/,
  '.tool-versions mise.toml mise.local.toml .nvmrc rust-toolchain.toml': /version manager/,
  'node_modules/.bin/eslint bin/rails-tool a/bin/x': /PATH/,
  '.venv/bin/activate venv/bin/activate.fish': /activate/,
  '.bashrc x/.zshenv .config/fish/conf.d/a.fish': /shell, when it starts/,
  '.claude/settings.json .claude/hooks/a.sh .mcp.json CLAUDE.md sub/AGENTS.md .cursor/mcp.json .codex/config.toml .gemini/settings.json opencode.jsonc .github/copilot-instructions.md':
    /agent/,
  '.vscode/tasks.json sub/.vscode/settings.json a.code-workspace .idea/runConfigurations/a.xml .devcontainer/devcontainer.json .vimrc .nvim.lua':
    /editor/,
  '.gdbinit .irbrc': /debugger/,
  '.hg/hgrc .jj/repo/config.toml': /version control/,
  'conftest.py tests/conftest.py sitecustomize.py lib/site-packages/a.pth tox.ini': /^Python, when/,
  'setup.py pyproject.toml': /Python packaging/,
  '.npmrc .yarnrc.yml .pnp.cjs composer.json Gemfile': /package manager, at its next/,
  'package-lock.json sub/yarn.lock go.sum requirements-dev.txt Cargo.lock': /next install/,
  'build.rs .cargo/config.toml Cargo.toml': /cargo/,
  'gradlew gradle/wrapper/gradle-wrapper.jar build.gradle.kts .mvn/extensions.xml pom.xml':
    /gradle/,
  '.bazelrc tools/bazel BUILD.bazel': /bazel/,
  'Makefile a.mk justfile Taskfile.yml CMakeLists.txt Rakefile nx.json Directory.Build.props':
    /task/,
  'vite.config.ts .eslintrc.cjs gulpfile.js babel.config.json .pylintrc': /as a program/,
  '.github/workflows/a.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile action.yml': /CI/,
  'Dockerfile Dockerfile.dev docker-compose.override.yml compose.yaml Vagrantfile main.tf':
    /docker/,
  'flake.nix shell.nix': /nix/,
  '.env .env.local': /environment/,
  'casefile.md': /Casefile/,
}

t.test('what starts a file by its place', async (t) => {
  for (const [paths, starts] of Object.entries(STARTS))
    for (const path of paths.split(' ')) t.match(findTrigger(path), starts, path)
  const others = ['src/a.ts', 'README.md', 'env', 'x.envrc', 'github/workflows/a.yml', 'a/main.py']
  for (const path of others) t.equal(findTrigger(path), null, path)
  for (const path of HOME_FILES) t.ok(findTrigger(path.replace(/\/$/, '/x')), path)
})

t.test('what differs', async (t) => {
  const starts = 'x'
  const before = {
    same: { stamp: '- a', starts },
    edited: { stamp: '- a', starts },
    run: { stamp: '- a', starts },
    gone: { stamp: '- a', starts },
  }
  const after = {
    same: { stamp: '- a', starts },
    edited: { stamp: '- b', starts },
    run: { stamp: 'x a', starts },
    'r/.git/': { stamp: '- repository', starts },
    'r/.git/config': { stamp: '- a', starts },
  }
  t.strictSame(
    runsLater(before, after).map(({ file, change }) => `${file} ${change}`),
    ['edited changed', 'gone deleted', 'r/.git/ new', 'run mode'],
    'a new repository is one place',
  )
})

t.test(
  'of a package.json count the scripts, and fields by which tools run or fetch programs',
  async (t) => {
    const starts = 'npm, pnpm, yarn, bun or a git hook, by these scripts and fields'
    const at = (json: object) => ({
      'package.json': { stamp: stampPackage(JSON.stringify(json))!, starts },
    })
    const before = at({ scripts: { a: '1', b: '1', bin: '1' }, bin: 'a', version: '1' })
    const after = at({ scripts: { a: '1', b: '2', bin: '1', d: '1' }, bin: 'b', husky: {} })
    const [found] = runsLater(before, after)
    t.equal(found && describeTrigger(found), `${starts}: b, d, bin, husky (changed)`)
    t.strictSame(runsLater({}, at({})), [])
    t.strictSame([stampPackage('{'), stampPackage('null'), stampPackage('[]')], [null, null, null])
    const broken = { 'package.json': { stamp: '- 123', starts } }
    t.match(runsLater(at({}), broken), [{ change: 'changed', scripts: null }])
  },
)

t.test('what was not checked is not compared, and all are counted', async (t) => {
  const place = (stamp: string) => ({ a: { stamp, starts: 'x' } })
  t.strictSame(runsLater(place(UNCHECKED), place('- a')), [])
  t.strictSame(runsLater(place('- a'), place(UNCHECKED)), [])
  const each = (file: string) => ({ file, change: 'new', starts: 'direnv', scripts: null })
  const fields = { places: [each('a'), each('b'), { file: 'c' }], more: 2, unseen: 1 }
  t.equal(
    describeRunsLater(fields, 1),
    'a: direnv (new); and 3 more; 1 place not checked (too many folders, or a read error)',
  )
  t.equal(describeRunsLater(undefined), '')
})
