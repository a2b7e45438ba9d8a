import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { processIds, processStat } from '../../src/platform/processes.ts'
import { noSandbox, openSandbox, type Sandbox } from '../../src/runners/enclosure/sandbox.ts'
import { runStepProcess } from '../../src/runners/enclosure/step-process.ts'
import { signalGroup } from '../../src/runners/process/process-group.ts'
import { built } from '../fixtures/built.ts'

/*
 * What several programs in one enclosure can do to each other and to this service, with mounts and without.
 */

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const { signal } = new AbortController()

async function sandboxes(t: Test): Promise<[kind: string, sandbox: Sandbox][]> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'casefile-enclosure-')))
  const [closed, hidden] = [join(base, 'closed'), join(base, 'hidden')]
  for (const folder of [closed, hidden]) mkdirSync(folder)
  const mounts = await openSandbox({ readOnly: [closed], hidden: [hidden], open: [] })
  const plain = noSandbox()
  t.teardown(async () => {
    for (const each of [mounts, plain]) await each.end()
    rmSync(base, { recursive: true })
  })
  return [
    [mounts.kind === 'mount' ? 'with mounts' : 'also without mounts', mounts],
    ['without mounts', plain],
  ]
}

async function run(
  sandbox: Sandbox,
  script: string,
  env: Record<string, string> = {},
  timeoutMs = 60_000,
) {
  let said = ''
  const {
    exit,
    startError,
    signal: endedBy,
  } = await runStepProcess({
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: { PATH, ...env },
    timeoutMs,
    signal,
    sandbox,
    onOutput(_, bytes) {
      said += bytes
    },
  })
  return { exit, endedBy, said, ...(startError && { startError }) }
}

t.test('the programs of one enclosure, one after the other', async (t) => {
  for (const [kind, sandbox] of await sandboxes(t)) {
    const rows: [name: string, script: string, expected: Awaited<ReturnType<typeof run>>][] = [
      ['an exit code', 'exit 3', { exit: 3, endedBy: null, said: '' }],
      ['as a shell reports a signal', 'exit 137', { exit: 137, endedBy: null, said: '' }],
      ['a signal', 'kill -9 $$', { exit: null, endedBy: 'SIGKILL', said: '' }],
      // a shell says no more of these two: with pipefail, bash exits with 141 itself
      ['SIGINT', 'kill -INT $$', { exit: 130, endedBy: null, said: '' }],
      ['SIGPIPE', 'kill -PIPE $$', { exit: 141, endedBy: null, said: '' }],
      ['SIGTERM', 'kill $$', { exit: null, endedBy: 'SIGTERM', said: '' }],
      [
        'SIGINT is not ignored',
        'trap "echo int; exit 0" INT; kill -INT $$; sleep 60',
        { exit: 0, endedBy: null, said: 'int\n' },
      ],
      [
        'no report of its own',
        'for n in 3 4 5 6 7 8 9; do (eval "echo exit 0 >&$n") 2>/dev/null && echo $n; done; exit 4',
        { exit: 4, endedBy: null, said: '' },
      ],
      [
        'no variable of the one before',
        'echo "[$ONE$casefile_number$casefile_group$LC_ALL$OLDPWD]$PWD"',
        { exit: 0, endedBy: null, said: '[]/\n' },
      ],
    ]
    await run(sandbox, 'ONE=1; export ONE; cd /usr', { ONE: 'x' })
    for (const [name, script, expected] of rows) {
      t.strictSame(await run(sandbox, script), expected, `${kind}: ${name}`)
    }
    const values = { QUOTED: `a 'b' "c"\n$PATH \\`, EMPTY: '' }
    const { said } = await run(sandbox, 'printf %s "$QUOTED$EMPTY"; env | grep -c ^EMPTY', values)
    t.equal(said, `${values.QUOTED}1\n`, `${kind}: variables as they are`)
    for (let count = 0; count < 40; count++) {
      t.match(await run(sandbox, `echo ${count}`), { exit: 0, said: `${count}\n` })
    }
    t.same((await run(sandbox, 'echo again')).said, 'again\n')
  }
})

t.test('two programs that are started at once run one after the other', async (t) => {
  for (const [kind, sandbox] of await sandboxes(t)) {
    const both = await Promise.all([run(sandbox, 'echo one'), run(sandbox, 'echo two')])
    t.strictSame(
      both.map(({ said }) => said),
      ['one\n', 'two\n'],
      kind,
    )
  }
})

t.test('the folder of the helper is not reached by its processes', async (t) => {
  const [[, sandbox]] = (await sandboxes(t)) as [[string, Sandbox]]
  if (sandbox.kind === 'none') return t.pass('no mounts here', { skip: sandbox.reason })
  if (!sandbox.ownProcesses) return
  const { said } = await run(sandbox, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "; ls /proc/1/cwd/')
  t.notMatch(said, /\d\.out/)
})

t.test('where a program killed all that it sees, the next one says so', async (t) => {
  const [[, sandbox]] = (await sandboxes(t)) as [[string, Sandbox]]
  if (sandbox.kind === 'none' || !sandbox.ownProcesses)
    return t.pass('it would kill this test', { skip: 'no process namespace here' })
  t.match(await run(sandbox, 'kill -9 -1; sleep 60'), { exit: null, endedBy: 'SIGKILL' })
  t.match(await run(sandbox, 'true'), { startError: /an earlier step killed all processes/ })
})

t.test('what a program leaves cannot change what the next one runs', async (t) => {
  const forges = `
    (setsid sh -c 'while [ -e /proc/self ]; do
      for file in "$0"/*; do
        case $file in *.in|*.out|*.err|*"*") ;; *) echo "echo forged >&5" > "$file" ;; esac
      done
      (echo "echo forged >&3" > "$1"/0) 2> /dev/null; (echo "echo forged >&3" > "$1"/3) 2> /dev/null
    done' "/proc/$PPID/cwd" "/proc/$PPID/fd" > /dev/null 2>&1 & echo $!)`
  for (const [kind, sandbox] of await sandboxes(t)) {
    if (sandbox.kind === 'mount' && sandbox.ownProcesses) continue // it sees no helper
    const forger = Number((await run(sandbox, forges)).said)
    try {
      for (let count = 0; count < 20; count++) {
        t.strictSame(await run(sandbox, 'echo so'), { exit: 0, endedBy: null, said: 'so\n' }, kind)
      }
    } finally {
      process.kill(forger, 'SIGKILL')
    }
  }
})

t.test('a program that stops its helper is ended by its time limit', async (t) => {
  for (const [kind, sandbox] of await sandboxes(t)) {
    if (sandbox.kind === 'mount' && sandbox.ownProcesses) continue // it sees no helper
    t.match(await run(sandbox, 'kill -STOP $PPID; sleep 60', {}, 200), { exit: null }, kind)
    t.match(await run(sandbox, 'echo on'), { exit: 0, said: 'on\n' }, kind)
  }
})

t.test('an enclosure that has ended starts again', async (t) => {
  for (const [kind, sandbox] of await sandboxes(t)) {
    t.equal((await run(sandbox, 'echo one')).said, 'one\n')
    await sandbox.end()
    t.equal((await run(sandbox, 'echo two')).said, 'two\n', kind)
  }
})

t.test('without mounts, the group of a program ends with a service that is killed', async (t) => {
  const script = `
    const { runStepProcess } = await import(process.env.STEP)
    const argv = ['/bin/sh', '-c', 'trap "" TERM; sleep 60 & echo $$; wait; sleep 60']
    const { signal } = new AbortController()
    const onOutput = (_, bytes) => process.stdout.write(bytes)
    const env = { PATH: process.env.PATH }
    await runStepProcess({ argv, cwd: '/', env, timeoutMs: 60_000, signal, onOutput })`
  const service = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, STEP: built('src/runners/enclosure/step-process.ts') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [bytes] = await once(service.stdout, 'data')
  const group = Number(String(bytes))
  t.ok(signalGroup(group, 0))
  service.kill('SIGKILL')
  await once(service, 'exit')
  // a zombie may stay until the first process of a container collects it
  const isAlive = () =>
    processIds().some((id) => {
      const stat = processStat(id)
      return stat?.group === group && stat.state !== 'Z'
    })
  while (isAlive()) await delay(5)
  t.pass('it has ended')
})
