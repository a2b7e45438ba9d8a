import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
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
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { runBuilt } from '../fixtures/built-service.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { finished, git, must, planned, ran, step } from '../fixtures/session-client.ts'
import { trusted } from '../fixtures/trust.ts'
import { type WalledPlace, walledPlace } from '../fixtures/walled-place.ts'
import { openTestService } from '../fixtures/workspace.ts'

const isRoot = process.geteuid?.() === 0
const probe = await openSandbox({ readOnly: ['/'], hidden: [], open: [tmpdir(), '/proc'] })
const here = probe.kind === 'none' ? { skip: `no sandbox here: ${probe.reason}` } : {}
const rootOnly = isRoot ? here : { skip: 'only root can become another' }
const NOBODY = 65534

const people: [who: string, user: number | undefined, options: object][] = [
  ['whoever runs the tests', undefined, here],
  ['an ordinary user', NOBODY, isLong ? rootOnly : inLongLane],
]

/** Each tries to get out; exit code 0 means that it did. `$N` runs as root of a user namespace. */
const ESCAPES = {
  'a file in the home folder': 'echo x > "$HOME/new"',
  'a line in .bashrc': 'echo x >> "$HOME/.bashrc"',
  'another .bashrc': 'cp "$HOME/.bashrc" "$TMPDIR/rc" && mv -f "$TMPDIR/rc" "$HOME/.bashrc"',
  'a removal in the home folder': 'rm -f "$HOME/.profile"',
  'a file in /etc': 'echo x > /etc/casefile-escape',
  'a file in /usr/local/bin': 'echo x > /usr/local/bin/casefile-escape',
  'another repository': 'echo x >> "$OTHER/file"',
  'the pipes of other runs':
    'ls -A "$TMPDIR"/casefile-pipes-$USER_ID /tmp/casefile-pipes-$USER_ID | grep run-',
  'the pipes of another user': 'ls -A "$OTHER_PIPES" | grep run-',
  'a start script of another run': 'mkdir "/tmp/casefile-pipes-$USER_ID/run-x"',
  'a commit in another repository':
    'cd "$OTHER" && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x',
  'a hook of another repository': 'echo x > "$OTHER/.git/hooks/post-commit"',
  'a project beside': 'echo x > "$HOME/projects/new"',
  'the state folder': 'echo x > "$STATE/new"',
  'what is in the state folder': 'ls "$STATE" | grep -v scratch | grep .',
  'the state of another workspace': 'grep -r "top secret" "$HOME/.local/state"',
  'a state folder beside': 'cat "$STATE-2/casefile.db"',
  'the memory root': 'echo x > "$RECORDS/new"',
  'the memory root by a link': 'ln -s "$RECORDS" link && echo x > link/new',
  'the memory root moved': 'mv "$RECORDS" "$RECORDS.moved"',
  'the memory root from below': 'cd sub && echo x > ../memory/new',
  'the working folder moved': 'cd / && mv "$WORK" "$WORK.moved"',
  'a folder around moved': 'cd / && mv "$(dirname "$WORK")" "$(dirname "$WORK").moved"',
  'a hard link into the working folder': 'ln "$HOME/.bashrc" linked && echo x >> linked',
  'a hard link of the case files': 'ln "$RECORDS/note.md" linked2 && echo x >> linked2',
  'a remount': 'mount -o remount,rw / ; mount -o remount,bind,rw "$HOME" ; echo x > "$HOME/new"',
  'a bind over the root': 'mount --bind "$WORK" "$HOME" && echo x > "$HOME/new"',
  'an unmount': 'umount "$RECORDS"; umount -l "$RECORDS"; echo x > "$RECORDS/new"',
  'a lazy unmount of all': 'umount -l -a; echo x > "$HOME/new"',
  'a nested user namespace':
    'unshare -Urm sh -c \'mount -o remount,bind,rw / ; echo x > "$HOME/new"\'',
  'a nested unmount': 'unshare -Urm sh -c \'umount -l "$RECORDS"; echo x > "$RECORDS/new"\'',
  'a nested bind':
    'unshare -Urm sh -c \'mount --rbind / "$TMPDIR" && echo x > "$TMPDIR$HOME/new"\'',
  'a nested root':
    'unshare -Urm sh -c \'mkdir -p "$TMPDIR/r" && mount --rbind / "$TMPDIR/r" && chroot "$TMPDIR/r" sh -c "echo x > $HOME/new"\'',
  'the root of the service': 'echo x > "/proc/$SERVICE/root$HOME/new"',
  'the folder of the service': 'echo x > "/proc/$SERVICE/cwd/../casefile-escape"',
  'the root of its parent': 'echo x > "/proc/$PPID/root$HOME/new"',
  'the root of the first process': 'echo x > "/proc/1/root$HOME/new"',
  'the root of any process':
    'for p in /proc/[0-9]*; do (echo x > "$p/root$HOME/new") && exit 0; done; exit 1',
  'an open folder of any process': `
    for f in /proc/[0-9]*/fd/*; do [ -d "$f" ] && (echo x > "$f/casefile-escape") && exit 0; done; exit 1`,
  'the mounts of the service': 'nsenter -t "$SERVICE" -m sh -c \'echo x > "$HOME/new"\'',
  'the mounts of the first process': 'nsenter -t 1 -m sh -c \'echo x > "$HOME/new"\'',
  'the memory of the service': 'head -c1 "/proc/$SERVICE/mem" > /dev/null',
  'a signal to the service': 'kill -0 "$SERVICE"',
  'the names of other processes': 'ps -e -o args= | grep -q "[s]erve --root"',
  'a chroot': 'chroot "/proc/1/root" sh -c \'echo x > "$HOME/new"\'',
  'a raw device': `
    for d in $(ls /dev | grep -E '^(vd|sd|nvme|xvd|dm-|loop)'); do
      [ -b "/dev/$d" ] && dd if="/dev/$d" of=/dev/null bs=1 count=1 && exit 0
    done; exit 1`,
  'a separate device':
    'mknod "$TMPDIR/disk" b 254 0 && dd if="$TMPDIR/disk" of=/dev/null bs=1 count=1',
  'a setting of the kernel': 'echo x > /proc/sys/kernel/core_pattern',
  'a magic request': '[ -e /proc/sysrq-trigger ] && echo h > /proc/sysrq-trigger',
  'a file below /sys': 'echo 1 > /sys/kernel/uevent_seqnum || echo x > /sys/new',
  'a release agent': `
    mkdir -p "$TMPDIR/cg" && mount -t cgroup -o rdma cgroup "$TMPDIR/cg" && echo x > "$TMPDIR/cg/release_agent"`,
  'a release agent in place':
    'for f in /sys/fs/cgroup/*/release_agent; do (echo x > "$f") && exit 0; done; exit 1',
  'a nested release agent': `
    unshare -UrmC sh -c 'mkdir -p "$TMPDIR/cg2" && mount -t cgroup -o memory c "$TMPDIR/cg2" && echo x > "$TMPDIR/cg2/release_agent"'`,
  'a module': 'modprobe dummy || insmod /dev/null',
  'the clock': 'date -s "$(date "+%F %T.%N")"',
  'the key of ssh': 'grep -r "top secret" "$HOME/.ssh"',
  'the keys of aws': 'grep -r "top secret" "$HOME/.aws"',
  'the login of gh': 'grep -r "top secret" "$HOME/.config/gh"',
  'the keys of gpg': 'grep -r "top secret" "$HOME/.gnupg"',
  "an agent's login":
    'grep -r "top secret" "$HOME/.claude" || grep "as it was" "$HOME/.claude.json"',
  'a hidden file': 'grep "top secret" .env.local',
  'a hidden folder': 'grep -r "top secret" keys',
  'a hidden file by its copy': 'cp -a .env.local copied && grep "top secret" copied',
  'a hidden file moved': 'mv .env.local moved && grep "top secret" moved',
  'a hidden folder moved with a link': 'mv keys keys2; grep -r "top secret" keys2',
  'a hidden file by the folder around': 'cd .. && grep "top secret" work/.env.local',
  'a new shell profile': 'echo x > "$HOME/.bash_profile" || echo x > "$HOME/.zshenv"',
  'a timer': '[ -d /var/spool/cron ] && echo "* * * * * true" > /var/spool/cron/casefile-escape',
  'a late process': `
    setsid env -i PATH="$PATH" sh -c 'sleep 0.3; echo x > "'"$HOME"'/late"; echo x > "'"$RECORDS"'/late"' >/dev/null 2>&1 &
    exit 1`,
}

/** What takes long of it. */
const NPM = {
  'npm test': `
    printf '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}' > package.json
    echo "require('node:test')('it works', () => {})" > a.test.js
    npm test --silent`,
  'npm install':
    'mkdir -p sub/dep && echo \'{"name":"dep","version":"1.0.0"}\' > sub/dep/package.json && npm install --no-audit --no-fund ./sub/dep && ls node_modules/dep',
}

/** What steps do every day. */
const WORK = {
  'a file': 'echo x > src/new && cat src/new',
  'a file in a temporary folder':
    'f=$(mktemp) && echo x > "$f" && mv "$f" moved-here && rm moved-here',
  '/tmp': 'f=$(TMPDIR=/tmp mktemp) && rm "$f"',
  'shared memory': 'echo x > /dev/shm/casefile-$$ && rm /dev/shm/casefile-$$',
  'the usual devices':
    'head -c1 /dev/zero /dev/urandom > /dev/null && : < /dev/null && [ -c /dev/full ] && [ -c /dev/tty ]',
  'a separate terminal':
    'python3 -c "import pty, os; os._exit(os.waitstatus_to_exitcode(pty.spawn([\'tty\'])))" | grep -q /dev/pts',
  'standard streams by name':
    'echo out > /dev/stdout && echo err > /dev/stderr && cat /dev/stdin < src/a.js',
  'its own processes':
    '[ "$(ps -o pid= -p $$)" -eq $$ ] && [ -d /proc/$$ ] && readlink /proc/self/exe',
  'a commit':
    'echo 2 >> src/a.js && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm second',
  'a branch and a stash':
    'git checkout -qb new && echo 3 >> src/a.js && git -c user.name=a -c user.email=a@b.c stash -q && git stash pop -q && git checkout -q -- .',
  'the state of git': '[ -z "$(git status --porcelain)" ]',
  'a cache': 'mkdir -p "$HOME/.cache/tool" && echo x > "$HOME/.cache/tool/x"',
  'a setting of the user': 'git config --global --list && cat "$HOME/.bashrc"',
  'a server in the background':
    "node -e \"require('http').createServer((_, r) => r.end('served')).listen(0, '127.0.0.1', function () { fs.writeFileSync('port', String(this.address().port)) })\" > /dev/null 2>&1 &\nuntil [ -s port ]; do sleep 0.05; done",
  'a request to it':
    "node -e \"require('http').get('http://127.0.0.1:' + fs.readFileSync('port'), (r) => r.pipe(process.stdout))\" | grep served && rm port",
  'a request to the service':
    "node -e \"require('http').get('$URL/health', (r) => process.exit(r.statusCode === 200 ? 0 : 1))\"",
  'a nested sandbox, as browsers have':
    'unshare -Ur true && unshare -Urm sh -c "mount -t tmpfs none /tmp && touch /tmp/x"',
  'a nested process namespace': 'unshare -Urpf true',
  'its id': 'id -u | grep -qx "$USER_ID"',
  'a moved folder': "mkdir -p m1/x && node -e \"fs.renameSync('m1', 'm2')\" && rm -r m2",
} as const

/** A process that has left its session and group, its environment, its parents, and its mounts. */
const SECONDS = 600 + process.pid / 1e7
const HIDES = `
    cat > hide.py <<'END'
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execve(sys.executable, [sys.executable, '-c', 'import time; time.sleep(${SECONDS})'], {})
END
    python3 hide.py > /dev/null 2>&1; unshare -Urm python3 hide.py > /dev/null 2>&1; sleep 0.2`

/** Where runs write to, and how they find what git tracks of the record. */
const WRITES = {
  cached: 'echo x > "$HOME/projects/made"',
  new: 'echo x > "$HOME/new/cache/made"',
  usual: 'echo x > "$HOME/.cache/made"',
  read: 'grep "as it was" memory/note.md',
  written: 'echo x > memory/note.md',
  removed: 'rm memory/note.md',
  state: '[ -z "$(git status --porcelain memory/note.md)" ]',
}

for (const [who, user, options] of people) {
  t.test(`the walls around a run of ${who}`, { ...options, ...inLongLane }, async (t) => {
    const settings = "cache: ['~/projects', ~/new/cache]\n"
    // a limit of 6 MiB for files, as on a full disk, and a file that is open
    const through = ['bash', '-c', 'ulimit -f 6144; exec "$@" 40< /etc/hostname', 'bash']
    const place = await walledPlace(t, { user, settings, through })
    const { service, places } = place
    const { HOME, OTHER, RECORDS, WORK: work } = places
    const write = (settings: string) =>
      writeFileSync(join(work, 'casefile.md'), `---\n${settings}\n---\n`)
    const left = () => processesNamed(`time.sleep(${SECONDS})`)
    /** `casefile doctor --trust`, run by the user of the service; returns what it showed. */
    const trust = async () => {
      if (user === undefined) return trusted(service)
      const { root, stateDir } = service
      const args = ['doctor', '--trust', '--yes', '--root', root, '--state-dir', stateDir]
      const { stdout, stderr } = await runBuilt(args, { HOME }, undefined, user)
      return stdout + stderr
    }

    const id = user ?? process.geteuid?.() ?? 0
    const pipes = mkdtempSync('/tmp/casefile-pipes-')
    t.teardown(() => rmSync(pipes, { recursive: true }))
    mkdirSync(join(pipes, 'run-1'))
    const scripts = { ...ESCAPES, ...WORK, ...(isLong ? NPM : {}), HIDES }
    const first = await runAll(place, scripts, {
      before: `export USER_ID=${id} URL=${service.url} OTHER_PIPES=${pipes}`,
      after: [
        ...['exit 137', 'kill -KILL $$', 'kill -SEGV $$'].map((end) =>
          step(end, 'sh run continue=true'),
        ),
        step('echo x > "$HOME/projects/made" || true; cat keys/one'),
      ].join('\n'),
    })
    t.match(first.guarded, { mode: 'work', guard: 'mount', writes: ['the working folder'] })
    for (const [name, { exit, said }] of Object.entries(first.ended)) {
      t.equal(exit !== 0, name in ESCAPES, `${name}: ${said}`)
      t.notMatch(said, 'top secret', name)
    }
    t.strictSame(Object.keys(first.ended), Object.keys(scripts))
    const found = readdirSync(HOME).filter((name) => /new$|late|bash_profile|zshenv/.test(name))
    t.strictSame(found, [])
    for (const file of [`${HOME}/.bashrc`, `${OTHER}/file`, `${RECORDS}/note.md`])
      t.equal(readFileSync(file, 'utf8'), 'as it was')
    for (const path of [`${RECORDS}/late`, '/etc/casefile-escape', `${HOME}/.ssh/new`])
      t.notOk(existsSync(path), path)
    t.strictSame(left(), [], 'nothing outlives the run')
    const ends = first.events
      .filter(({ event_type }) => event_type === 'step_finished')
      .map(({ payload: { exit, signal = null } }) => [exit, signal])
    t.strictSame(ends.slice(-4), [
      [137, null],
      [null, 'SIGKILL'],
      [null, 'SIGSEGV'],
      [1, null],
    ])
    const { output } = first.session
    t.match(
      output,
      /Runs can write only here: the working folder, .*temporary folders, ~\/\.cache.*\. .*cache: of casefile\.md and run: casefile doctor --trust\./,
    )
    t.match(output, /Runs do not see .*keys.* take it out of hide:/)
    const { problems } = await must(service, 'GET', '/health')
    t.match(problems, [
      {
        code: 'untrusted_settings',
        message:
          /^cache: not trusted, so runs do not write to ~\/projects, ~\/new\/cache\. .*casefile doctor --trust$/,
      },
    ])

    for (const words of [
      ['add', '-f', 'memory/note.md'],
      ['commit', '-qm', 'record'],
    ])
      git(work, '-c', 'safe.directory=*', ...words)
    t.match(
      await trust(),
      /Folders that runs may write to, in place of the usual caches:\n {2}"~\/projects"/,
    )
    const counted = await runAll(place, WRITES)
    t.strictSame(codesOf(counted), [true, true, false, true, false, false, true])
    t.strictSame(counted.guarded.writes.slice(-2), ['~/projects', '~/new/cache'])
    t.notOk(counted.guarded.hides.includes('the memory root'), 'as git tracks it')

    write('sandbox: none')
    const { walls: expected } = await must(service, 'GET', `${counted.ref.path}/approval`)
    t.match(expected, { guard: 'mount', writes: ['the working folder'] }, 'not trusted')
    t.match(await trust(), /can write and read whatever you can/)
    const free = await runAll(place, WRITES)
    t.match(free.text, /^Nothing limits the programs: they can do what you can/)
    t.strictSame(codesOf(free).slice(0, 5), [true, true, true, true, true])
    t.match(free.guarded, { guard: 'comparison', reason: 'casefile.md says so (sandbox: none)' })

    write('hide: []')
    const prints = 'head -c 8M /dev/zero | tr "\\0" x'
    const runbook = [step('ls -x /proc/self/fd'), step(prints), step('touch never')].join('\n')
    const full = await ran(service, runbook)
    const steps = full.events.filter(({ event_type }) => event_type === 'step_finished')
    t.match(steps[0]?.payload, { exit: 0, tail: /^0 +1 +2 +3$/m }, 'no open file is inherited')
    t.match(steps[1]?.payload, { exit: 0, truncated: true })
    t.equal(steps.length, 2)
    t.notMatch(full.session.output, 'step-3')
    t.match(full.session, {
      state: 'failed',
      output:
        /The run stopped: The change to 1-step-2\.log was not saved: the storage is full \(EFBIG\)\. Free space/,
    })

    const ref = await planned(service, { runbook: step(`${HIDES}\nsleep 60`) })
    await must(service, 'POST', `${ref.path}/approve`)
    await until(() => left().length === 2)
    await service.stop('SIGKILL')
    await until(() => left().length === 0)
    t.strictSame(left(), [], 'nothing outlives the service')
  })
}

interface End {
  exit: number | null
  said: string
}

const codesOf = ({ ended }: { ended: Record<string, End> }) =>
  Object.values(ended).map(({ exit }) => exit === 0)

/** Runs scripts in one step of a plan, which stops before them if nothing holds the programs, and steps after it. */
async function runAll(
  { service, places }: WalledPlace,
  scripts: Record<string, string>,
  { before = '', after = '' } = {},
) {
  const values = { ...places, SERVICE: String(service.pid) }
  const known = Object.entries(values).map(([name, value]) => `export ${name}='${value}'`)
  const all = Object.entries(scripts).map(
    ([name, script]) => `(\n${script}\n) 2>&1\necho "@@$? ${name}"`,
  )
  const run = step(['set +eu', ...known, before, ...all].join('\n'), 'sh run id=all timeout=2m')
  // some would harm this machine if nothing held them
  const guard = step(`! echo x > '${places.STATE}/new'`)
  const runbook = scripts === WRITES ? run : [guard, run, after].join('\n')
  const ref = await planned(service, { runbook })
  const { walls: expected } = await must(service, 'GET', `${ref.path}/approval`)
  const { session, events } = await finished(service, ref)
  const log = join(places.RECORDS, 'cases', ref.case_id, 'artifacts', '1-all.log')
  const ended: Record<string, End> = {}
  for (const [, said, code, name] of readFileSync(log, 'utf8').matchAll(
    /(.*?)@@(\d+) ([^\n]+)\n/gs,
  ))
    ended[name!] = { exit: Number(code), said: said! }
  const guarded = events.find(({ event_type }) => event_type === 'guarded')?.payload
  const { guard: kind, reason = null, writes = null, hides = null } = guarded
  const { text, ...said } = expected
  // the operator read this before the run
  assert.deepEqual({ guard: kind, reason, writes, hides, hosts: null }, said)
  return { ref, session, events, ended, guarded, text }
}

t.test(
  'where mounts are refused the session says so, and the run goes on',
  { ...here, ...inLongLane },
  async (t) => {
    const service = await openTestService(t, { files: { bin: {} } })
    const bin = join(service.root, 'bin')
    writeFileSync(join(bin, 'unshare'), '#!/bin/sh\necho no >&2; exit 1\n', { mode: 0o755 })
    const { PATH } = process.env
    process.env.PATH = `${bin}:${PATH}`
    t.teardown(() => {
      process.env.PATH = PATH
    })
    const { session, events, ref } = await ran(service, step('echo x > ../new'))
    t.equal(session.state, 'complete')
    const { payload } = events.find(({ event_type }) => event_type === 'guarded')!
    t.match(payload, { guard: 'comparison', reason: /: no$/ })
    const { guard, reason } = (await must(service, 'GET', `${ref.path}/approval`)).walls
    t.match(payload, { guard, reason })
  },
)

/** Ids of processes whose command has this in it. */
function processesNamed(text: string): string[] {
  const lines = execFileSync('ps', ['-e', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line.includes(text) && !line.includes('hide.py'))
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 120_000
  while (!isSo() && performance.now() < end) await delay(50)
}
