import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { bootId, processStart } from '../../src/platform/processes.ts'
import {
  runStepProcess,
  type StepProcessOptions,
} from '../../src/runners/enclosure/step-process.ts'
import { TIME_LIMITS } from '../../src/runners/time-limits.ts'
import { inLongLane } from '../fixtures/full.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'

const cwd = t.testdir({ plain: 'text' })
const PATH = process.env.PATH ?? '/usr/bin:/bin'
/** So long that a test that waits for it does not end. */
const LONG_GRACE = { ...TIME_LIMITS, terminate: 3_600_000 }
const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

/** Runs a script with `sh`, and gathers what it says. */
async function sh(script: string, options: Partial<StepProcessOptions> = {}) {
  const said = { stdout: '', stderr: '' }
  const result = await runStepProcess({
    argv: ['/bin/sh', '-c', script],
    cwd,
    env: { PATH },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onOutput: (stream, bytes) => {
      said[stream] += bytes
    },
    ...options,
  })
  return { ...result, ...said }
}

/** A zombie is not alive; nor is an id that nobody has. */
function isAlive(pid: number): boolean {
  if (process.platform !== 'linux') {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return false
  return !/\) [ZX] /.test(readFileSync(file, 'latin1'))
}

t.test('a process ends by itself', async (t) => {
  const cases = [
    ['exit code 0', 'exit 0', { exit: 0, signal: null }],
    ['another exit code', 'exit 3', { exit: 3, signal: null }],
    ['a signal of its own', 'kill -9 $$', { exit: null, signal: 'SIGKILL' }],
    ['both streams', 'echo out; echo err >&2', { stdout: 'out\n', stderr: 'err\n' }],
    ['nothing to read', 'read line || echo end', { stdout: 'end\n' }],
    ['no inherited environment', 'echo "[$HOME$USER$TAP]"', { stdout: '[]\n' }],
    ['not a character lost', 'printf "no line end"', { stdout: 'no line end' }],
  ] as const
  for (const [name, script, expected] of cases) {
    t.test(name, async (t) => {
      t.match(await sh(script), { ...expected, timedOut: false, aborted: false })
    })
  }
})

t.test('a process that cannot be started is a result, not an error', async (t) => {
  const cases = [
    ['no such program', { argv: ['no-such-program'] }, 'ENOENT'],
    ['no such folder', { cwd: `${cwd}/missing` }, 'ENOENT'],
    ['no program', { argv: [`${cwd}/plain`] }, 'EACCES'],
    ['an argument that is too long', { argv: ['/bin/echo', 'x'.repeat(1 << 20)] }, 'E2BIG'],
    ['an argument with a NUL', { argv: ['/bin/echo', 'a\0b'] }, 'ERR_INVALID_ARG_VALUE'],
  ] as const
  for (const [name, options, startError] of cases) {
    t.test(name, async (t) => {
      const started = await sh('true', {
        cwd,
        ...options,
        argv: [...(('argv' in options && options.argv) || ['/bin/true'])],
      })
      t.match(started, { exit: null, signal: null, startError })
    })
  }
  await t.rejects(sh('', { argv: [] }), { message: /argv is empty/ }, 'no argv is our mistake')
})

t.test('a time-out ends the group', async (t) => {
  t.test('TERM is enough for most', async (t) => {
    const result = await sh('sleep 3600', { timeoutMs: 100, limits: LONG_GRACE })
    t.match(result, { exit: null, signal: 'SIGTERM', timedOut: true, aborted: false })
  })

  t.test('a process may use the grace', async (t) => {
    const script = 'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done'
    const result = await stoppedAt(1, script, LONG_GRACE)
    // the shell may say that its sleep was terminated, too
    t.match(result, { exit: 7, stdout: /^ready\n.*bye\n/s, aborted: true, timedOut: false })
  })
})

/** Stops a script when it has said so many lines. */
async function stoppedAt(lines: number, script: string, limits = SHORT_LIMITS) {
  const abort = new AbortController()
  let said = ''
  const onOutput = (_: string, bytes: Buffer) => {
    said += bytes
    if (said.split('\n').length > lines) abort.abort()
  }
  return { ...(await sh(script, { signal: abort.signal, limits, onOutput })), stdout: said }
}

t.test('KILL ends a step that ignores its end, with its 20 children', async (t) => {
  const ignorer = `trap "" TERM; while :; do sleep 1; done`
  const begin = `for i in $(seq 20); do sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & done`
  const result = await stoppedAt(20, `trap "" TERM; ${begin}; ${ignorer}`)
  t.match(result, { signal: 'SIGKILL', aborted: true })
  const children = result.stdout.trim().split('\n').map(Number)
  t.equal(children.length, 20)
  t.strictSame(children.filter(isAlive), [], 'none is left')
})

t.test('a child in the background does not hold up the end', async (t) => {
  const result = await sh('sleep 3600 & echo $!')
  const child = Number(result.stdout)
  t.teardown(() => process.kill(child, 'SIGKILL'))
  t.match(result, { exit: 0, timedOut: false })
  t.ok(isAlive(child), 'and is not ended')
})

t.test('a group without children is not waited for', async (t) => {
  t.match(await sh('exit 0', { endsGroup: true, limits: LONG_GRACE }), { exit: 0 })
})

t.test('output that is there at the exit arrives even if the event loop is busy', async (t) => {
  let bytes = 0
  const result = await sh('echo go; head -c 100000 /dev/zero; sleep 60 & exit 0', {
    limits: { ...TIME_LIMITS, drain: 10 },
    onStart: (pid) => t.teardown(() => process.kill(-pid, 'SIGKILL')),
    onOutput: (_, part) => {
      const until = performance.now() + (bytes === 0 ? 100 : 0)
      bytes += part.length
      while (performance.now() < until);
    },
  })
  t.equal(result.exit, 0)
  t.equal(bytes, 100_003)
})

t.test('a flood of 150 MB does not fill memory', inLongLane, async (t) => {
  const before = process.memoryUsage().rss
  let peak = 0
  let bytes = 0
  await sh('head -c 150000000 /dev/zero', {
    onOutput: (_, part) => {
      bytes += part.length
      peak = Math.max(peak, process.memoryUsage.rss())
    },
  })
  t.equal(bytes, 150_000_000)
  const grown = Math.round((peak - before) / 1e6)
  t.ok(grown < 120, `grew by ${grown} MB`)
})

t.test('onStart and onOutput', async (t) => {
  const events: string[] = []
  const result = await sh('echo $$', {
    onStart: async (pid) => {
      events.push(String(pid))
      await delay(1)
      events.push('recorded')
    },
    onOutput: (_, bytes) => events.push(String(bytes).trim()),
  })
  t.equal(result.exit, 0)
  t.ok(events.includes('recorded'), 'is over before the result')
  t.equal(new Set(events).size, 2, 'the process id is the one of the program itself')

  const failing = [
    ['onStart', { onStart: () => Promise.reject(new Error('disk full')) }],
    [
      'onOutput',
      {
        onOutput: () => {
          throw new Error('disk full')
        },
      },
    ],
  ] as const
  for (const [name, options] of failing) {
    t.test(`a failing ${name} ends the process and is passed on`, async (t) => {
      await t.rejects(sh('echo x; touch began; sleep 600', options), { message: 'disk full' })
      if (name === 'onStart') t.notOk(existsSync(`${cwd}/began`), 'it never ran')
    })
  }
})

t.test('nothing runs before onStart is over', async (t) => {
  const began = `${cwd}/began-early`
  const seen: boolean[] = []
  let startedAt = 0
  const { exit, durationMs } = await sh(`touch ${began}`, {
    onStart: async () => {
      await delay(50) // nothing to wait for: it is about what does not happen
      seen.push(existsSync(began))
      startedAt = performance.now()
    },
  })
  t.ok(durationMs <= performance.now() - startedAt, 'its time begins then')
  t.equal(exit, 0)
  t.strictSame(seen, [false])
  t.ok(existsSync(began))

  const abort = new AbortController()
  const aborted = await sh('touch never', {
    signal: abort.signal,
    onStart: () => {
      abort.abort()
    },
  })
  t.match(aborted, { aborted: true, exit: null, signal: 'SIGTERM' })
  t.notOk(existsSync(`${cwd}/never`), 'nor when it is aborted meanwhile')
})

t.test('input', async (t) => {
  const long = 'ä line\n'.repeat(200_000)
  t.match(await sh('cat', { input: 'a "prompt"' }), { stdout: 'a "prompt"' })
  t.match(await sh('cat; echo end', { input: '' }), { stdout: 'end\n' })
  const { stdout } = await sh('wc -c', { input: long })
  t.equal(Number(stdout), Buffer.byteLength(long), 'a long one')
  const late = await sh('exec <&-; echo closed', { input: long })
  t.match(late, { exit: 0, stdout: 'closed\n' }, 'that nobody can read')
  // that a child in the background does not read
  const left = await sh('sleep 600 & echo $!', { input: long })
  t.teardown(() => process.kill(Number(left.stdout), 'SIGKILL'))
  t.match(await sh('sleep 60', { input: long, timeoutMs: 100 }), { timedOut: true })
  t.match(await sh('cat /dev/stdin', { input: 'by name' }), { stdout: 'by name' })
})

t.test('processStart and bootId', linuxOnly, async (t) => {
  const dir = t.testdir({ 'a) S (b': t.fixture('symlink', '/bin/sleep') })
  t.match(processStart(process.pid), /^\d+$/)
  t.equal(processStart(process.pid), processStart(process.pid))
  t.match(bootId(), /^[0-9a-f-]{36}$/)

  const child = spawn(`${dir}/a) S (b`, ['60'], { stdio: 'ignore' })
  t.teardown(() => child.kill())
  const pid = child.pid ?? 0
  t.match(readFileSync(`/proc/${pid}/stat`, 'latin1'), /\(a\) S \(b\)/, 'an odd name')
  const [mine, its] = [Number(processStart(process.pid)), Number(processStart(pid))]
  t.ok(its >= mine && its < mine + 100 * 3600, 'is no obstacle')

  child.kill('SIGKILL')
  await once(child, 'exit')
  t.equal(processStart(pid), null, 'null when it is gone')
})
