import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import t from 'tap'
import { openSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { pathsBelow } from '../fixtures/paths-below.ts'
import { LIST_PLAN, plannedBy, program, says } from '../fixtures/plain-agents.ts'
import { recordOf } from '../fixtures/session-record.ts'
import { trusted } from '../fixtures/trust.ts'
import { type WalledPlace, walledPlace } from '../fixtures/walled-place.ts'
import { openTestService } from '../fixtures/workspace.ts'

const isRoot = process.geteuid?.() === 0
const probe = await openSandbox({ readOnly: ['/'], hidden: [], open: [tmpdir(), '/proc'] })
const here = probe.kind === 'none' ? { skip: `no sandbox here: ${probe.reason}` } : {}
const rootOnly = isRoot ? here : { skip: 'only root can become another' }

const people: [who: string, user: number | undefined, options: object][] = [
  ['whoever runs the tests', undefined, here],
  ['an ordinary user', 65534, isLong ? rootOnly : inLongLane],
]

/** Each tries what a planning agent must not do outside of the working folder; exit code 0 means that it did. */
const OUTSIDE = {
  'a file in the home folder': 'echo x > "$HOME/new"',
  'a line in .bashrc': 'echo x >> "$HOME/.bashrc"',
  'a removal in the home folder': 'rm -f "$HOME/.profile"',
  'a change of mode in the home folder': 'chmod 777 "$HOME/.profile"',
  'a key': 'cat "$HOME/.ssh/secret"',
  'the keys of a cloud': 'cat "$HOME/.aws/secret"',
  'what casefile.md hides': 'grep . "$WORK/.env.local"',
  'a folder that casefile.md hides': 'cat "$WORK/keys/one"',
  'the places of an agent that it is not': 'cat "$HOME/.claude/secret"',
  'a file in /etc': 'echo x > /etc/casefile-escape',
  'another repository': 'echo x >> "$OTHER/file"',
  'a commit in another repository':
    'cd "$OTHER" && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x',
  'a file in the record': 'echo x > "$RECORDS/new"',
  'a file of the record': 'echo x >> "$RECORDS/note.md"',
  'the record by a link': 'ln -s "$RECORDS" "$TMPDIR/link" && echo x > "$TMPDIR/link/new"',
  'another repository by a link':
    'ln -s "$OTHER" "$TMPDIR/link2" && echo x >> "$TMPDIR/link2/file"',
  'the record moved': 'mv "$RECORDS" "$RECORDS.moved"',
  'the record uncovered': 'umount -l "$RECORDS" && ls "$RECORDS" | grep .',
  'the state folder': 'ls "$STATE" | grep -v scratch | grep .',
  'the folder of its changes': 'ls "$STATE"/scratch/*/layer | grep .',
  'the working folder moved': 'cd / && mv "$WORK" "$WORK.moved"',
  'the working folder by the service': 'echo x > "/proc/$SERVICE/root$WORK/new"',
  'the working folder by its own root':
    'for p in /proc/[0-9]*; do [ "$p/root" -ef / ] || { echo x > "$p/root$WORK/new" && exit 0; }; done; exit 1',
  'a nested root': 'unshare -Urm sh -c \'umount -l "$WORK" && echo x > "$WORK/new"\'',
  'a remount': 'mount -o remount,bind,rw / && echo x > "$HOME/new"',
}

/** What it may do. */
const ALLOWED = {
  'a temporary file': 'echo x > "$TMPDIR/made"',
  'a file in a cache': 'echo x > "$HOME/.cache/made"',
  git: 'git status --porcelain && git log -1 && git diff',
  'what is written back':
    'cp src/a.js "$TMPDIR/a" && echo x > src/a.js && cat "$TMPDIR/a" > src/a.js',
  'what is as it was': 'touch src/a.js && mkdir sub/t && echo > sub/t/x && rm -r sub/t',
  'the time of a link': 'git update-index --refresh',
}

/** All that it changes in the working folder, and how that is named. */
const INSIDE = `
echo x > new; rm src/a.js; mv old moved; chmod 600 casefile.md
mkdir -p node_modules/m; echo x > node_modules/m/i.js; mkdir empty; chmod 700 sub
rm -r again; mkdir again; echo two > again/two; rm -r gone; ln -s nowhere linked
ln -sfn "$WORK" "$TMPDIR/here"; echo x > "$TMPDIR/here/by-a-link"
umount -l "$WORK"; echo x > uncovered
echo x > .git/hooks/post-commit; git branch other; git add new
setsid sh -c 'while :; do echo x > late; echo x > "$TMPDIR/../late"; sleep 0.05; done' "$WORK/casefile-daemon" &
[ ! -w . ] || for _ in $(seq 500); do [ -e late ] || sleep 0.01; done`
const BY_GIT = [
  'again/one',
  'again/two',
  'by-a-link',
  'gone/file',
  'late',
  'linked',
  'moved',
  'new',
  'old',
  'src/a.js',
  'uncovered',
]
const NAMED = [
  '.git/hooks/post-commit',
  '.git/index',
  '.git/logs/refs/heads/other',
  '.git/refs/heads/other',
  ...BY_GIT,
  'casefile.md',
  'empty/',
  'node_modules/m/i.js',
]
  .filter((name) => name !== 'gone/file')
  .concat('gone/', 'sub/')
  .sort()

const settings =
  'providers:\n  hostile: { kind: command, plan: [/bin/sh, -c, \'. "$TMPDIR/../hostile.sh"\'] }\n'
const files = { 'again/one': 'one', 'gone/file': 'file', old: 'old' }

/** Lets the agent run a script as it plans. */
async function planning({ service, places }: WalledPlace, script: string, fields = {}) {
  const values = { ...places, SERVICE: String(service.pid) }
  const known = Object.entries(values).map(([name, value]) => `export ${name}='${value}'`)
  const text = ['cat > /dev/null', ...known, `(${script}\n) >&2`, says(LIST_PLAN)].join('\n')
  writeFileSync(join(places.WORK, '../hostile.sh'), text)
  const before = contentOf(places)
  const { ref, session } = await plannedBy(service, 'hostile', fields)
  const file = (...path: string[]) => join(places.RECORDS, 'cases', ref.case_id, ...path)
  const record = readFileSync(file('sessions/1.md'), 'utf8')
  const log = readFileSync(file('artifacts/1-plan-agent.log'), 'utf8')
  return { session, record, log, before, after: contentOf(places) }
}

/** All that it must leave as it is. */
function contentOf({ HOME, WORK, OTHER, RECORDS }: WalledPlace['places']): Record<string, string> {
  const found: Record<string, string> = {}
  for (const top of [HOME, WORK, OTHER]) {
    for (const path of pathsBelow(top)) {
      // of the service, and of a cache
      if (path.startsWith(join(RECORDS, 'cases')) || path.startsWith(join(HOME, '.cache'))) continue
      if (path.startsWith(RECORDS) && !path.endsWith('note.md')) continue
      const stats = lstatSync(path)
      const content = stats.isFile() ? readFileSync(path, 'latin1') : ''
      const link = stats.isSymbolicLink() ? readlinkSync(path) : ''
      found[relative(join(WORK, '..'), path)] = `${stats.mode.toString(8)} ${link}${content}`
    }
  }
  return found
}

function violationIn(record: string): string[] {
  const [, names = '[]'] = /plan_violation working_folder=(\[.*?\])(?: |$)/m.exec(record) ?? []
  return JSON.parse(names)
}

/** Ids of processes that a planning agent left; others may run the same test at the same time. */
function daemons({ WORK }: WalledPlace['places']): string[] {
  const lines = execFileSync('ps', ['-e', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line.includes(`${WORK}/casefile-daemon`))
}

const TRIES = `
for each in new ../beside .git/new ../.git/new "$WORK/memory/new" mounted/new; do echo x > $each; done
cat mounted/kept`
/** Each changes the folder before it. */
const KINDS: [name: string, fields: object, make: string, named: string[]][] = [
  [
    'a subfolder',
    { workdir: 'sub' },
    'mkdir sub/.git sub/mounted',
    ['.git/new', 'mounted/new', 'new'],
  ],
  [
    'a linked worktree',
    {},
    'git init -q ../main && rm -r .git && git -C ../main -c user.name=a -c user.email=a@b.c commit -qm a --allow-empty && git -C ../main worktree add -q ../tree && mv ../tree/.git .',
    ['new'],
  ],
  ['without a repository', {}, 'rm -rf .git; mkdir .git', ['.git/new', 'new']],
]

const MOUNTED = `for each; do [ "$last" = --root ] && root=$each; last=$each; done
mkdir "$root/mounted"; mount -t tmpfs none "$root/mounted"; echo kept > "$root/mounted/kept"; exec "$@"`

for (const [who, user, options] of people) {
  t.test(`the walls around planning, for ${who}`, options, async (t) => {
    const bin = withoutOverlay(join(t.testdir({ bin: {} }), 'bin'))
    const env = { PATH: `${bin}:${process.env.PATH}` }
    const mounts = user === undefined && isRoot
    const mountsOnly = mounts ? {} : { skip: 'only root can mount' }
    const through = mounts ? ['unshare', '--mount', 'sh', '-c', MOUNTED, 'sh'] : []
    const place = await walledPlace(t, { user, settings, files, trust: true, env, through })
    const noOverlay = (condition: string) => writeFileSync(join(bin, 'condition'), condition)

    await t.test('in the working folder', async (t) => {
      const { session, record, before, after } = await planning(place, INSIDE)
      t.match(record, 'guarded mode=plan guard=mount folder=overlay writes=["temporary folders"')
      t.strictSame(violationIn(record), NAMED)
      t.equal(session.state, 'failed')
      t.match(session.output, /\nplan_violation: .* and 9 more\. Its changes were thrown away/)
      t.strictSame(after, before, 'nothing is changed')
      t.strictSame(daemons(place.places), [])
    })

    await t.test('elsewhere', async (t) => {
      const all = { ...OUTSIDE, ...ALLOWED }
      const scripts = Object.entries(all).map(
        ([name, script]) => `(\n${script}\n) 2>&1\necho "@@$? ${name}"`,
      )
      const { session, record, log, before, after } = await planning(place, scripts.join('\n'))
      for (const [, said = '', code, name = ''] of log.matchAll(/(.*?)@@(\d+) ([^\n]+)\n/gs)) {
        t.equal(code !== '0', name in OUTSIDE, `${name}: ${said}`)
        t.notMatch(said, 'top secret', name)
      }
      t.strictSame(violationIn(record), [])
      t.equal(log.match(/@@/g)?.length, Object.keys(all).length)
      t.equal(session.state, 'plan_ready')
      t.strictSame(after, before, 'nothing is changed')
    })

    await t.test('a mount in the working folder', mountsOnly, async (t) => {
      const { record, log } = await planning(place, TRIES)
      t.match(record, 'guard=mount folder=overlay')
      t.strictSame(violationIn(record), ['.git/new', 'new'])
      t.match(log, /mounted\/new: Read-only file system/)
      t.match(log, /^kept$/m)
    })

    await t.test(
      'where an overlay cannot keep changes on the disk they are in memory',
      async (t) => {
        noOverlay('! mountpoint -q "$layer"')
        const { record, before, after } = await planning(place, isLong ? INSIDE : TRIES)
        t.match(record, 'guarded mode=plan guard=mount folder=overlay-in-memory')
        t.strictSame(violationIn(record), isLong ? NAMED : ['.git/new', 'new'])
        t.strictSame(after, before)
      },
    )

    await t.test('where no overlay can be made the working folder is read-only', async (t) => {
      noOverlay('true')
      const { session, record, log, before, after } = await planning(place, TRIES)
      t.match(record, 'guarded mode=plan guard=mount folder=read-only')
      t.match(log, /cannot create new: Read-only file system/)
      t.equal(session.state, 'plan_ready')
      t.strictSame(after, before)
      noOverlay('false')
    })

    for (const [name, fields, make, named] of user === undefined ? KINDS : []) {
      if (name === 'a linked worktree' && !isLong) continue
      await t.test(name, async (t) => {
        execFileSync('sh', ['-ec', make], { cwd: place.places.WORK })
        const { record, before, after } = await planning(place, TRIES, fields)
        t.match(record, 'guard=mount folder=overlay')
        t.strictSame(violationIn(record), named)
        t.strictSame(after, before)
      })
    }

    if (user !== undefined) return
    await t.test('with sandbox: none', async (t) => {
      const file = join(place.places.WORK, 'casefile.md')
      writeFileSync(file, readFileSync(file, 'utf8').replace('hide:', 'sandbox: none\nhide:'))
      await trusted(place.service)
      const script = `${TRIES}; ls "$STATE"/scratch`
      const { record, log, before, after } = await planning(place, script)
      t.match(record, /guarded mode=plan guard=mount folder=overlay$/m)
      t.strictSame(violationIn(record), ['.git/new', 'new'])
      t.match(log, /memory\/new: Read-only file system/)
      t.strictSame(after, before)
    })
  })
}

t.test('planning without mounts', inLongLane, async (t) => {
  const place = await walledPlace(t, { settings, files, trust: true, args: ['--no-mount'] })
  const { session, record } = await planning(place, INSIDE)
  t.match(record, 'guarded mode=plan guard=comparison reason="mounts are turned off')
  t.strictSame(violationIn(record), BY_GIT)
  t.match(session.output, /so you or one of your programs may have made these changes/)
  t.strictSame(daemons(place.places), [])
})

/** A folder for the PATH with a `mount` that makes no overlay where the condition in a file beside it holds for its layer. */
function withoutOverlay(bin: string): string {
  const mount = execFileSync('which', ['mount'], { encoding: 'utf8' }).trim()
  const text = `#!/bin/sh
if [ "$4" = -T ] && grep -q ' overlay ' "$5"; then
  layer=$(readlink /proc/self/fd/7)
  if . "${bin}/condition"; then echo no >&2; exit 1; fi
fi
exec ${mount} "$@"
`
  program(bin, 'mount', text)
  writeFileSync(join(bin, 'condition'), 'false')
  return bin
}

t.test('a home folder in the workspace', { ...here, ...inLongLane }, async (t) => {
  const environment: Record<string, string | undefined> = { ...process.env }
  const service = await openTestService(t, {
    files: { home: { '.claude': {} }, bin: {} },
    environment,
  })
  const home = join(service.root, 'home')
  const result = JSON.stringify({
    type: 'result',
    subtype: 'success',
    result: '## Plan\\n\\n1. One',
  })
  const script = `[ "$1" = -p ] || exit 0; cat > /dev/null; echo x > "$HOME/.claude/kept"; echo x > "$HOME/lost"; echo '${result}'`
  program(join(service.root, '../bin'), 'claude', `#!/bin/sh\n${script}\n`)
  Object.assign(environment, { HOME: home, PATH: `${service.root}/../bin:${process.env.PATH}` })
  const { session, ref } = await plannedBy(service, 'claude')
  t.match(recordOf(service, ref), 'guard=mount folder=overlay')
  t.equal(session.state, 'plan_ready', session.output)
  t.strictSame(
    [existsSync(join(home, '.claude/kept')), existsSync(join(home, 'lost'))],
    [true, false],
  )
})
