import { execFile } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { planMounts } from '../../src/runners/process/sandbox-plan.ts'
import { built } from '../fixtures/built.ts'
import { isLong } from '../fixtures/full.ts'
import type { Findings, Orders } from '../fixtures/guarded-process.ts'

const FIXTURE = built('test/fixtures/guarded-process.ts')
const NOBODY = 65534
const ODD = `-o'd "d"\n $(touch x) \\n`
const AUTHOR = '-c user.name=a -c user.email=a@example.org'
const isRoot = process.geteuid?.() === 0
const probe = await openSandbox({ readOnly: [tmpdir()], hidden: [], open: [] })
await probe.end()
const here = probe.kind === 'none' ? { skip: `no sandbox on this machine: ${probe.reason}` } : {}
const rootOnly = isRoot ? here : { skip: 'only root can become another' }

/** Words in front of the fixture, and who it is then. */
const people: [who: string, before: string[], user: number | null, options: object][] = [
  ['whoever runs the tests', [], null, here],
  ['root without the power to mount', ['setpriv', '--bounding-set', '-sys_admin'], null, rootOnly],
  ['an ordinary user', [], NOBODY, rootOnly],
]

/** A working folder, and a state folder with the folder of a run in it, all with odd names. */
function makeScene(t: Test, user: number | null) {
  const outer = mkdtempSync(join(tmpdir(), 'casefile-guard-'))
  t.teardown(() => {
    for (const path of [outer, `${outer}.moved`]) rmSync(path, { recursive: true, force: true })
  })
  const base = join(outer, 'base')
  const work = join(base, `work ${ODD}`)
  const state = join(base, ODD)
  const run = join(state, 'runs', `1 ${ODD}`)
  for (const folder of [join(work, 'sub'), run, join(state, 'runs', '2')]) {
    mkdirSync(folder, { recursive: true })
  }
  const files = [join(work, 'kept'), join(state, 'secret'), join(state, 'runs', 'other')]
  for (const file of files) writeFileSync(file, 'as it was')
  if (user !== null) {
    for (const path of [
      outer,
      base,
      work,
      join(work, 'sub'),
      state,
      join(state, 'runs'),
      run,
      ...files,
    ]) {
      chownSync(path, user, user)
    }
  }
  const env = { OUTER: outer, BASE: base, W: work, H: state, O: run }
  const folders = { readOnly: [work, join(base, 'no such')], hidden: [state], open: [run] }
  return { ...env, env, folders }
}

async function obey(before: string[], orders: Orders): Promise<Findings> {
  const [file = '', ...args] = [...before, process.execPath, FIXTURE, JSON.stringify(orders)]
  const { stdout } = await promisify(execFile)(file, args)
  return JSON.parse(stdout)
}

/** Each tries to change the working folder, or to see what is hidden; `$N` is a shell of a root of its own. */
const ATTACKS = {
  'a new file': 'echo x > "$W/new"',
  'an old file': 'echo x >> "$W/kept"',
  'a removal': 'rm -f "$W/kept"',
  'a change of mode': 'chmod 777 "$W/kept"',
  'a file from below': 'cd "$W/sub" && echo x > ../new',
  'a file where it stands': 'echo x > "$(pwd)/new" || echo x > new',
  'a move of the folder': 'mv "$W" "$W.moved"',
  'a copy in place of the folder around it':
    'mv "$BASE" "$BASE.moved" && cp -a "$BASE.moved" "$BASE" && echo x > "$W/new"',
  'a copy in place of a folder around both': `
    cd / && mv "$OUTER" "$OUTER.moved" && cp -a "$OUTER.moved" "$OUTER" && echo x > "$W/new"`,
  'a copy in place of a folder around it, as root of a namespace': `
    unshare -Urm sh -c 'cd / && mv "$OUTER" "$OUTER.moved" && mkdir -p "$W" && echo x > "$W/new"'`,
  'a removal of a folder around the open one': 'mv "$H/runs" "$H/others"',
  'a remount': 'mount -o remount,bind,rw "$W" && echo x > "$W/new"',
  'an unmount': 'umount "$W" && echo x > "$W/new"',
  'a lazy unmount': 'umount -l "$W" && echo x > "$W/new"',
  'another mount': 'mount --bind "$BASE" "$O" && cd "$O"/work* && touch new',
  'a remount as root of a namespace':
    'unshare -Urm sh -c \'mount -o remount,bind,rw "$W" && echo x > "$W/new"\'',
  'an unmount as root of a namespace': 'unshare -Urm sh -c \'umount -l "$W" && echo x > "$W/new"\'',
  'a bind as root of a namespace':
    'unshare -Urm sh -c \'mount --bind "$BASE" "$O" && cd "$O"/work* && touch new\'',
  'a recursive bind as root of a namespace':
    'unshare -Urm sh -c \'mount --rbind "$BASE" "$O" && cd "$O"/work* && touch new\'',
  'a private root': 'unshare -Urm chroot /proc/$SERVICE/root sh -c \'echo x > "$W/new"\'',
  'the root of the service': 'echo x > "/proc/$SERVICE/root$W/new"',
  'the folder of the service': 'echo x > "/proc/$SERVICE/cwd/new"',
  'the namespace of the service': 'nsenter -t $SERVICE -m sh -c \'echo x > "$W/new"\'',
  'the root of its parent': 'echo x > "/proc/$PPID/root$W/new"',
  'any process': 'for p in /proc/[0-9]*; do (echo x > "$p/root$W/new") && exit 0; done; exit 1',
  'a process that nobody waits for': `
    setsid sh -c '( (echo x > "$W/new"; echo $? > "$O/late") & )'
    until [ -s "$O/late" ]; do sleep 0.01; done
    exit $(cat "$O/late")`,
  'a hidden file': 'cat "$H/secret"',
  'a hidden file beside': 'cat "$H/runs/other"',
  'a file in the hidden folder': 'echo x > "$H/new"',
  'a file in a folder that only shows the way': 'echo x > "$H/runs/new"',
  'the hidden folder unmounted': 'umount "$H" && cat "$H/secret"',
  'the hidden folder unmounted as root of a namespace':
    'unshare -Urm sh -c \'umount -l "$H" && cat "$H/secret"\'',
  'the hidden folder by way of an open one': 'cat "$O/../../secret"',
  'the hidden folder by way of the service': 'cat "/proc/$SERVICE/root$H/secret"',
}

const RIGHTS = {
  reading: ['cat "$W/kept"', 'as it was'],
  'what is shown': ['find "$H" -type d -printf . | wc -c', '3\n'],
  'the folder around': ['echo mine > "$BASE/new" && cat "$BASE/new"', 'mine\n'],
  'the open folder': ['echo mine > "$O/new" && cat "$O/new"', 'mine\n'],
  'its id': ['id -u', null],
  'the working folder as its own': ['pwd', null],
} as const

// root without the power gets its namespace as an ordinary user does
for (const [who, before, user, options] of people) {
  if (!isLong && before.length > 0) continue
  t.test(`a sandbox for ${who}`, options, async (t) => {
    const scene = makeScene(t, user)
    const { env, folders } = scene
    // in a short run the others try what depends on who they are
    const isTried = (name: string) =>
      isLong || (user === null && before.length === 0) || /root|mount|service/.test(name)
    const tried = Object.keys(ATTACKS).filter(isTried) as (keyof typeof ATTACKS)[]
    const scripts: Record<string, string> = {}
    for (const name of tried) scripts[name] = ATTACKS[name]
    for (const [name, [script]] of Object.entries(RIGHTS)) scripts[name] = script
    const found = await obey(before, { folders, env, user, cwd: scene.W, scripts })
    t.equal(found.sandbox, 'mount')
    t.comment(`found out within ${found.openedInMs} ms`)

    for (const name of tried) {
      t.test(`keeps out ${name}`, async (t) => {
        t.equal(found.ran[name]?.startError, undefined)
        const { exit, said } = found.ran[name] ?? {}
        t.ok(exit, said?.replace(/\s+/g, ' ') ?? 'it ran')
        t.notMatch(said, 'as it was')
      })
    }
    t.strictSame(readdirSync(scene.W).sort(), ['kept', 'sub'])
    t.equal(readFileSync(join(scene.W, 'kept'), 'utf8'), 'as it was')
    t.notOk(existsSync(`${scene.W}.moved`))
    t.strictSame(readdirSync(scene.H).sort(), ['runs', 'secret'])
    t.equal(readFileSync(join(scene.O, 'new'), 'utf8'), 'mine\n', 'what is open is the true folder')

    for (const [name, [, said]] of Object.entries(RIGHTS)) {
      t.match(found.ran[name], { exit: 0, ...(said !== null && { said }) }, `leaves ${name}`)
    }
    t.equal(found.ran['its id']?.said, `${user ?? process.geteuid?.()}\n`)
    t.equal(found.ran['the working folder as its own']?.said, `${scene.W}\n`)
  })
}

t.test('files are moved and linked as ever around a closed folder', here, async (t) => {
  for (const [who, before, user, options] of isLong ? people : people.slice(0, 1)) {
    t.test(`for ${who}`, options, async (t) => {
      const { W, env } = makeScene(t, user)
      const folders = { readOnly: [join(W, 'sub')], hidden: [], open: [] }
      const git = `git init -q && touch a && git add a && git ${AUTHOR} commit -qm a`
      // unlike mv, they do not make do with a copy
      const node = (call: string) => `'${process.execPath}' -e 'fs.${call}'`
      const scripts = {
        rename: `mkdir x y && touch x/a && ${node('renameSync("x/a", "y/b")')}`,
        'rename of a folder': node('renameSync("x", "y/x")'),
        link: node('linkSync("y/b", "c")'),
        commit: git,
        'git mv': 'git mv a y/a',
        stash: `git ${AUTHOR} stash -q && git stash pop -q`,
        closed: '! touch sub/new',
      }
      const { ran } = await obey(before, {
        folders,
        env: { ...env, HOME: W },
        user,
        cwd: W,
        scripts,
      })
      for (const name of Object.keys(scripts)) t.match(ran[name], { exit: 0 }, name)
    })
  }
})

t.test('what is mounted in a folder is read-only too', rootOnly, async (t) => {
  for (const user of isLong ? [null, NOBODY] : [NOBODY]) {
    t.test(`for ${user === null ? 'root' : 'an ordinary user'}`, async (t) => {
      const { folders, env, W } = makeScene(t, user)
      const mounted =
        'mount -t tmpfs -o nosuid,noexec,noatime,mode=777 t "$1/sub"; shift; exec "$@"'
      const before = [
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        mounted,
        'sh',
        W,
      ]
      const scripts = {
        write: 'echo x > "$W/sub/new"',
        undo: 'umount -l "$W/sub" && echo x > "$W/sub/new"',
        see: `grep -c ' ro,nosuid,noexec,noatime ' /proc/self/mountinfo`,
      }
      const { sandbox, ran } = await obey(before, { folders, env, user, cwd: W, scripts })
      t.equal(sandbox, 'mount')
      t.match(ran.write, { said: /Read-only file system/ })
      t.ok(ran.undo?.exit, ran.undo?.said ?? 'it ran')
      t.match(ran.see, { exit: 0 }, 'its other options are kept')
    })
  }
})

t.test('a machine that forbids it has no sandbox, and says why', here, async (t) => {
  const { folders, env, W } = makeScene(t, null)
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
  const drop = isRoot ? ['setpriv', '--bounding-set', '-sys_admin'] : []
  const before = ['unshare', '--user', '--map-root-user', 'sh', '-c', forbid, 'sh', ...drop]
  const { sandbox } = await obey(before, { folders, env, user: null, cwd: W, scripts: {} })
  t.match(sandbox, /^unshare is not allowed here: unshare failed: \w/)
})

t.test('a sandbox that does not hold is none', here, async (t) => {
  const { W } = makeScene(t, null)
  const sandbox = await openSandbox({ readOnly: [W], hidden: [], open: [W] })
  t.match(sandbox, {
    kind: 'none',
    reason: /^the mounts do not hold here: .* is no longer writable/,
  })
  const stopped = await openSandbox(
    { readOnly: [W], hidden: [], open: [] },
    { signal: AbortSignal.abort() },
  )
  t.match(stopped, { kind: 'none', reason: /stopped/ })
})

t.test('the mounts of files, views, odd names and processes', async (t) => {
  const none = { readOnly: [], hidden: [], open: [] }
  const facts = { mounts: [{ path: '/', options: ['rw'] }] }
  const linesOf = (folders: object, more: object = {}) => {
    const { table, checks } = planMounts({ ...none, ...folders }, { ...facts, ...more })
    return [...table.split('\n').filter((line) => line !== ''), checks.join(' ')]
  }
  t.strictSame(linesOf({ hidden: ['/a/f'] }, { files: ['/a/f'] }), [
    '/dev/null /a/f none bind 0 0',
    'blank /a/f',
  ])
  t.strictSame(linesOf({}, { ownProcesses: true }), [
    'casefile-processes /proc proc nosuid,nodev,noexec 0 0',
    '',
  ])
  const views = [{ at: '/dev', shows: '/s/dev' }]
  t.strictSame(linesOf({ readOnly: ['/'], views }), [
    '/s/dev /dev none rbind 0 0',
    'casefile-remount /. none remount,bind,ro 0 0',
    'closed / closed / open /dev',
  ])
  t.match(linesOf({ readOnly: ['/a b#c\\d\n'] })[0], '/a\\040b\\043c\\134d\\012 ')
  t.match(linesOf({ open: ['/a'] }), ['open /a'], 'what was writable stays so')
  t.match(linesOf({ open: ['/a'] }, { isChecked: () => false }), [''])
  const below = { mounts: [...facts.mounts, { path: '/a/m', options: ['rw', 'noexec'] }] }
  t.match(linesOf({ readOnly: ['/a'] }, below)[2], '/a/m none remount,bind,noexec,ro')
  t.notMatch(linesOf({ readOnly: ['/a'] }, { ...below, isReachable: () => false }).join(), '/a/m')
  t.match(linesOf({ hidden: ['/h'], open: ['/h/o/p'] }).at(-1), 'closed /h 1 /h closed /h/o 1 /h/o')
})

t.test('the mounts of folders that lie in one another', async (t) => {
  const cases = [
    ['a hidden folder in a closed one', ['/a'], '/a/b', [], 'hide /a/b set - bind /a set /a'],
    ['a closed folder in a hidden one', ['/a/b'], '/a', [], 'hide /a set -'],
    [
      'a closed folder in an open one of a hidden one',
      ['/a/o/b'],
      '/a',
      ['/a/o'],
      'hide /a show ./o set - bind /a/o/b set /a/o/b',
    ],
    [
      'folders around',
      ['/x/y/a'],
      '/x/z/h',
      ['/x/z/h/o'],
      'bind /x bind /x/y bind /x/z hide /x/z/h show ./o set - bind /x/y/a set /x/y/a',
    ],
    ['an open folder in a closed one', ['/a'], null, ['/a/b'], 'bind /a bind /a/b set /a'],
    ['twice the same', ['/a', '/a/b'], null, [], 'bind /a set /a'],
    [
      'an open folder in an open one',
      [],
      '/a',
      ['/a/b/c', '/a/b', '/a/d'],
      'hide /a show ./b show ./d set -',
    ],
    ['a name that begins alike', ['/ab'], '/a', [], 'hide /a set - bind /ab set /ab'],
    [
      'mounts in a closed folder with an open one',
      ['/m'],
      null,
      ['/m/o'],
      'bind /m bind /m/o set /m set /m/x',
    ],
  ] as const
  const mounts = ['/', '/m/x', '/m/o/x', '/mx'].map((path) => ({ path, options: ['rw', 'nodev'] }))
  for (const [name, readOnly, hidden, open, expected] of cases) {
    const covered = hidden === null ? [] : [hidden]
    const { table } = planMounts({ readOnly, hidden: covered, open }, { mounts })
    const short = table.split('\n').map((line) => {
      const [source = '', path, type, options = ''] = line.split(' ')
      if (type === 'tmpfs') return `hide ${path}`
      const shown = /^\/proc\/self\/fd\/6\/(.*)/.exec(source)
      if (shown) return `show ./${shown[1]}`
      if (!options.startsWith('remount')) return `bind ${path}`
      return options.endsWith(',nosuid,nodev,ro') ? 'set -' : `set ${path}`
    })
    t.equal(short.join(' '), expected, name)
  }
})
