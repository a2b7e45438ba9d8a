// What a run leaves that starts by itself later, outside of its walls, is listed first in its evidence.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commit, git } from '../fixtures/git-repository.ts'
import { ran, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const FILES = {
  '.gitignore': '/memory/\nnode_modules/\n.envrc\n/ignored/\n',
  'package.json': '{"scripts":{"test":"true","lint":"eslint"},"version":"1"}',
  'package-lock.json': '{}',
  conf: { 'env.sh': 'A=1\n' },
  'tool.js': '#!/bin/sh\n',
  node_modules: { '.bin': { same: '#!/bin/sh\n' }, eslint: { 'package.json': '{}', 'cli.js': '' } },
  bin: { plain: 'text\n', tool: '#!/bin/sh\n' },
}

async function scene(t: Test, mount = true) {
  const service = await openTestService(t, { files: FILES, mount })
  const { root } = service
  symlinkSync('../eslint/cli.js', join(root, 'node_modules/.bin/eslint'))
  symlinkSync('conf/env.sh', join(root, '.envrc'))
  chmodSync(join(root, 'bin/tool'), 0o755)
  mkdirSync(join(root, 'old'))
  git(join(root, 'old'), 'init', '-q')
  git(root, 'init', '-q', '-b', 'main')
  writeFileSync(join(root, '.git/info/exclude'), '/old/\n')
  git(root, 'config', 'core.hooksPath', 'tools/git')
  git(root, 'config', 'alias.own', '!./tools/clean.sh')
  commit(root)
  return service
}

const AS = '-c user.name=a -c user.email=a@a'
const TRAPS = `
git init -q inner; git -C inner config core.fsmonitor "$PWD/evil"; echo f > inner/f
git -C inner add f; git -C inner ${AS} commit -qm f; git add inner 2>/dev/null
git init -q ignored/deep/repo
git init -q --bare bare/store
echo '[core]' >> old/.git/config
echo '* filter=x' > .git/info/attributes
mkdir -p sub/.vscode tools/git .claude node_modules/new
echo 'evil' > sub/.vscode/tasks.json
echo 'evil' > tools/git/pre-commit
echo 'B=1' >> conf/env.sh
echo 'evil' >> node_modules/eslint/cli.js
chmod +x node_modules/eslint/cli.js bin/plain
echo '{"scripts":{"postinstall":"x"}}' > node_modules/new/package.json
printf '#!/bin/sh\\n' > node_modules/.bin/same
echo '{"scripts":{"test":"evil","prepare":"evil"},"version":"2"}' > package.json
rm package-lock.json
echo '{}' > .claude/settings.json
echo 'all:' > sub/Makefile
ln -s "$PWD/inner" linked
odd="$(printf 'odd\\377')"; mkdir "$odd"; echo x > "$odd/.envrc"
echo cat > tools/clean.sh
mkdir many; for each in $(seq 20); do mkdir many/$each; echo x > many/$each/.gitlab-ci.yml; done
echo x > harmless.txt`

const FOUND = [
  ['bare/store/', 'new'],
  ['ignored/deep/repo/.git/', 'new'],
  ['inner/.git/', 'new'],
  ['linked', 'new'],
  ['.git/info/attributes', 'new'],
  ['old/.git/config', 'changed'],
  ['tools/clean.sh', 'new'],
  ['tools/git/pre-commit', 'new'],
  ['.envrc', 'changed'],
  ['odd\ufffd/.envrc', 'new'],
  ['bin/plain', 'mode'],
  ['node_modules/.bin/eslint', 'changed'],
  ['.claude/settings.json', 'new'],
  ['sub/.vscode/tasks.json', 'new'],
  ['package-lock.json', 'deleted'],
  ['sub/Makefile', 'new'],
  ['package.json', 'changed'],
]

for (const mount of [true, false])
  t.test(`a run that plants traps, ${mount ? 'in' : 'without'} mounts`, async (t) => {
    const service = await scene(t, mount)
    const { session, ref } = await ran(service, step(TRAPS))
    t.equal(session.state, 'complete', session.output)
    type Place = { file: string; change: string }
    const found: string[][] = session.runs_later.map(({ file, change }: Place) => [file, change])
    const isCI = ([file]: string[]) => file!.startsWith('many/')
    t.strictSame(
      found.filter((each) => !isCI(each)),
      FOUND,
    )
    t.equal(found.filter(isCI).length, 12, 'many of one kind leave room for others')
    t.equal(session.runs_later_more, 8)
    t.match(
      session.runs_later.find(({ file }: { file: string }) => file === '.envrc'),
      {
        starts: 'direnv or autoenv, when you enter the folder',
        scripts: null,
      },
    )
    t.strictSame(session.runs_later.at(-1).scripts, ['test', 'lint', 'prepare'])
    const report = await service.request('GET', `/cases/${ref.case_id}/report`)
    t.match(report.text, /<dt>Runs later<\/dt><dd[^>]*>bare\/store\/: git, when/)
    const trail = readFileSync(service.file(ref.case_id, 'sessions/1.md'), 'utf8')
    t.ok(trail.indexOf('runs_later') < trail.indexOf('diff_taken'))

    const quiet = await ran(
      service,
      step('touch -d 2001-01-01 package.json; echo y > harmless.txt'),
    )
    t.strictSame(quiet.session.runs_later, [])
  })

t.test('an isolated session', async (t) => {
  const service = await scene(t)
  const { session } = await ran(
    service,
    step('git init -q inner; echo evil > .envrc; echo x > x'),
    {
      fields: { isolation: 'worktree' },
    },
  )
  t.match(session, { state: 'complete', worktree: { state: 'kept' } }, session.output)
  t.match(session.runs_later, [{ file: 'inner/.git/' }, { file: '.envrc' }])
})
