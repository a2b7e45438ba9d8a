// What a run leaves that starts by itself later, outside of its walls, is listed first in its evidence.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commit, git } from '../fixtures/git-repository.ts'
import { finished, planned, ran, says, step, stream } from '../fixtures/session-client.ts'
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
  const home = mkdtempSync(join(tmpdir(), 'casefile-home-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const environment = { ...process.env, HOME: home }
  const service = await openTestService(t, { files: FILES, mount, environment })
  const { root } = service
  symlinkSync('../eslint/cli.js', join(root, 'node_modules/.bin/eslint'))
  symlinkSync('conf/env.sh', join(root, '.envrc'))
  chmodSync(join(root, 'bin/tool'), 0o755)
  mkdirSync(join(root, 'old'))
  git(join(root, 'old'), 'init', '-q')
  git(root, 'init', '-q', '-b', 'main')
  git(root, 'init', '-q', 'bytes')
  renameSync(join(root, 'bytes'), Buffer.from(`${root}/bytes\xff`, 'latin1'))
  writeFileSync(join(root, '.git/info/exclude'), '/old/\n/bytes*\n')
  git(root, 'config', 'core.hooksPath', 'tools/git')
  git(root, 'config', 'alias.own', "!'./tools/a+b: c.sh'")
  git(root, 'config', 'core.attributesFile', 'tools/my attributes')
  git(root, 'config', 'branch.main.merge', 'refs/heads/main')
  git(root, 'config', 'alias.list', '!ls bin src')
  commit(root)
  return Object.assign(service, { home })
}

const AS = '-c user.name=a -c user.email=a@a'
const TRAPS = `
git ${AS} commit -qm own --allow-empty
git init -q inner; git -C inner config core.fsmonitor "$PWD/evil"; echo f > inner/f
git -C inner add f; git -C inner ${AS} commit -qm f; git add inner 2>/dev/null
git init -q ignored/deep/repo
git init -q --bare bare/store
echo '[core]' >> old/.git/config
bytes="$(printf 'bytes\\377')"; echo '[core]' >> "$bytes/.git/config"; echo x > "$bytes/.git/hooks/pre-push"
echo '* filter=x' > .git/info/attributes
mkdir -p sub/.vscode tools/git .claude node_modules/new
echo 'evil' > sub/.vscode/tasks.json
echo 'evil' > tools/git/pre-commit
echo 'B=1' >> conf/env.sh
echo 'evil' >> node_modules/eslint/cli.js
chmod +x node_modules/eslint/cli.js bin/plain
echo '{"scripts":{"postinstall":"x"}}' > node_modules/new/package.json
printf '#!/bin/sh\\n' > node_modules/.bin/same
echo '{"scripts":{"test":"evil","prepare":"evil"},"version":"2","packageManager":"pnpm@1"}' > package.json
rm package-lock.json
echo '{}' > .claude/settings.json
echo 'all:' > sub/Makefile
ln -s "$PWD/inner" linked
odd="$(printf 'odd\\377')"; mkdir "$odd"; echo x > "$odd/.envrc"
echo cat > 'tools/a+b: c.sh'
echo x > 'tools/my attributes'
mkdir -p src node_modules/p/sub node_modules/p/node_modules; echo x > src/x
ln -s ../../../src node_modules/p/node_modules/.bin
git init -q node_modules/p/sub
ln -s /proc/self/mem tools/.envrc
mkdir -p ~/.config/nvim && echo x > ~/.config/nvim/init.lua || true
mkdir many; for each in $(seq 20); do mkdir many/$each; echo x > many/$each/.gitlab-ci.yml; done
echo x > harmless.txt`

const FOUND = [
  ['bare/store/', 'new'],
  ['ignored/deep/repo/.git/', 'new'],
  ['inner/.git/', 'new'],
  ['linked', 'new'],
  ['node_modules/p/sub/.git/', 'new'],
  ['.git/info/attributes', 'new'],
  ['bytes\ufffd/.git/config', 'changed'],
  ['old/.git/config', 'changed'],
  ['tools/a+b: c.sh', 'new'],
  ['tools/git/pre-commit', 'new'],
  ['tools/my attributes', 'new'],
  ['bytes\ufffd/.git/hooks/pre-push', 'new'],
  ['.envrc', 'changed'],
  ['odd\ufffd/.envrc', 'new'],
  ['bin/plain', 'mode'],
  ['node_modules/.bin/eslint', 'changed'],
  ['node_modules/p/node_modules/.bin', 'new'],
  ['.claude/settings.json', 'new'],
  ['sub/.vscode/tasks.json', 'new'],
  ['package-lock.json', 'deleted'],
  ['sub/Makefile', 'new'],
  ['package.json', 'changed'],
]

t.test('a run that plants traps without mounts', async (t) => {
  const service = await scene(t, false)
  const { session, ref, events } = await ran(service, step(TRAPS))
  t.equal(session.state, 'complete', session.output)
  type Place = { file: string; change: string }
  const found: string[][] = session.findings.runs_later.map(({ file, change }: Place) => [
    file,
    change,
  ])
  const isCI = ([file]: string[]) => file!.startsWith('many/')
  t.strictSame(
    found.filter((each) => !isCI(each)),
    [...FOUND, ['~/.config/nvim/init.lua', 'new']],
  )
  t.equal(found.filter(isCI).length, 12, 'many of one kind leave room for others')
  t.equal(session.findings.runs_later_more, 8)
  t.equal(session.findings.runs_later_artifact, '1-runs-later.txt')
  const all = readFileSync(service.file(ref.case_id, 'artifacts', '1-runs-later.txt'), 'utf8')
  t.equal(all.match(/^many\/.* \(new\)$/gm)?.length, 20, 'all are in an artifact')
  t.match(
    session.findings.runs_later.find(({ file }: { file: string }) => file === '.envrc'),
    {
      starts: 'direnv or autoenv, when you enter the folder',
      scripts: null,
    },
  )
  const later = events.find(({ event_type }) => event_type === 'runs_later')
  t.equal(later?.payload.unseen, 1, 'a link to what cannot be read')
  const packages = session.findings.runs_later.find(({ file }: Place) => file === 'package.json')
  t.strictSame(packages.scripts, ['test', 'lint', 'prepare', 'packageManager'])
  const report = await service.request('GET', `/cases/${ref.case_id}/report`)
  t.match(report.text, /<dt>Runs later<\/dt><dd[^>]*>bare\/store\/: git, when/)
  const trail = readFileSync(service.file(ref.case_id, 'sessions/1.md'), 'utf8')
  t.ok(trail.indexOf('runs_later') < trail.indexOf(' diff={'))
})

t.test('an isolated session, in mounts', async (t) => {
  const service = await scene(t)
  const runbook = step(
    'touch -d 2001-01-01 package.json; git init -q inner; echo evil > .envrc; echo x > x; mkdir -p ~/.config/nvim && echo x > ~/.config/nvim/init.lua || true; echo tried; until test -e ~/.config/nvim/init.lua; do sleep 0.02; done',
  )
  const ref = await planned(service, { runbook, fields: { isolation: 'worktree' } })
  const events = await stream(service, ref)
  const ended = finished(service, ref)
  await says(events, 'tried')
  events.close()
  const place = join(service.home, '.config/nvim')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'init.lua'), 'of another program, not of the run')
  const { session } = await ended
  t.match(session, { state: 'complete', worktree: { state: 'kept' } }, session.output)
  t.match(session.findings.runs_later, [{ file: 'inner/.git/' }, { file: '.envrc' }])
  t.equal(session.findings.runs_later.length, 2)
})
