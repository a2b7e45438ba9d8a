import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { processStart, processStat } from '../../src/platform/processes.ts'
import { findProgram } from '../../src/runners/process/find-program.ts'
import { type Launched, type LaunchOptions, launch } from '../../src/runners/process/launch.ts'
import type { Sandbox } from '../../src/runners/process/sandbox.ts'
import { runStepProcess } from '../../src/runners/process/step-process.ts'
import { built } from '../fixtures/built.ts'

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

async function held(script: string, options: Partial<LaunchOptions>): Promise<Launched> {
  const argv = ['sh', '-c', script]
  const started = await launch({ argv, cwd: '/', env: { PATH }, stdin: 'none', ...options })
  if ('startError' in started) throw new Error(started.startError)
  return started
}

/** A sandbox whose launcher is this script. */
function sandboxOf(script: string, onStart = () => {}): Sandbox {
  return {
    kind: 'mount',
    ownProcesses: false,
    hasOverlay: false,
    async end() {},
    async wrap() {
      onStart()
      return { words: ['/bin/sh', '-c', script], table: null }
    },
  }
}

t.test('a program is held until it may begin', async (t) => {
  const cwd = t.testdir()
  const { pid, stdout, begin, child } = await held('touch began; echo $$', { cwd })
  const start = processStart(pid)
  await delay(50) // nothing to wait for: it is about what does not happen
  t.notOk(existsSync(join(cwd, 'began')))
  t.equal(child.exitCode, null, 'it is alive')

  begin()
  await once(stdout, 'readable')
  t.equal(processStart(pid), start, 'when it started is what was seen before')
  t.equal(await text(stdout), `${pid}\n`, 'and it is the same process')
  t.ok(existsSync(join(cwd, 'began')))
})

t.test('a held program never runs when its starter dies', linuxOnly, async (t) => {
  const cwd = t.testdir()
  const script = `
    const { launch } = await import(process.env.LAUNCH)
    const env = { PATH: process.env.PATH }
    const options = { argv: ['touch', 'began'], cwd: process.env.CWD, env, stdin: 'none' }
    console.log((await launch(options)).pid)
    await new Promise(() => setInterval(() => {}, 1000))`
  const module = built('src/runners/process/launch.ts')
  const starter = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, LAUNCH: module, CWD: cwd },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [bytes] = await once(starter.stdout, 'data')
  const pid = Number(String(bytes))
  t.match(processStat(pid)?.state, /[RSD]/, 'the launcher waits')
  starter.kill('SIGKILL')
  await once(starter, 'exit')
  while (/[RSD]/.test(processStat(pid)?.state ?? '')) await delay(5)
  t.notOk(existsSync(join(cwd, 'began')))
})

t.test('what a program is given', async (t) => {
  const cwd = realpathSync(t.testdir())
  const cases = [
    ['its own group', 'ps -o pgid= -p $$ | tr -d " "', (pid: number) => `${pid}\n`],
    ['no descriptor of ours', '[ -e /proc/$$/fd/3 ] || echo none', () => 'none\n'],
    ['nothing to read', 'cat; echo end', () => 'end\n'],
    ['the folder', 'pwd', () => `${cwd}\n`],
  ] as const
  for (const [name, script, expected] of cases) {
    t.test(name, async (t) => {
      const { pid, begin, stdout } = await held(script, { cwd })
      begin()
      t.equal(await text(stdout), expected(pid))
    })
  }

  t.test('no variable but those named, and where it is', async (t) => {
    const argv = ['env', '-0', '-u', 'NODE_OPTIONS']
    const { begin, stdout } = await held('', { argv, cwd, env: { PATH, ODD: 'a "b"\n$c' } })
    begin()
    // tap adds its own to every child, some of many lines; the two before are of other shells than dash
    const known = /^(?:PATH|PWD|ODD|_|SHLVL|_TAPJS_\w+)=/
    const lines = (await text(stdout)).split('\0').filter((line) => line !== '')
    t.strictSame(
      lines.filter((line) => !known.test(line)),
      [],
    )
    t.ok(lines.includes(`PWD=${cwd}`))
    t.ok(lines.includes('ODD=a "b"\n$c'), 'a value as it is')
  })
})

t.test('a conversation over both standard streams', async (t) => {
  const { begin, stdin, stdout } = await held('while read line; do echo "[$line]"; done', {
    stdin: 'pipe',
  })
  begin()
  for (const word of ['one', 'two']) {
    stdin?.write(`${word}\n`)
    t.equal(String((await once(stdout, 'data'))[0]), `[${word}]\n`)
  }
  stdin?.end()
  await once(stdout, 'end')
})

t.test('a launcher that fails is an error to start', async (t) => {
  const sandbox = sandboxOf('echo "mount: no\nway" >&2; exit 32')
  const argv = ['/bin/true']
  const failed = await launch({ argv, cwd: '/', env: { PATH }, stdin: 'pipe', sandbox })
  t.strictSame(failed, { startError: 'ELAUNCH: mount: no way' })
})

t.test('a mount that is gone meanwhile is no error: it is tried again', async (t) => {
  const gone = 'echo mount: /x: mount point does not exist. >&2; exit 32'
  for (const failures of [1, 5]) {
    let starts = 0
    const sandbox: Sandbox = {
      ...(sandboxOf('') as Extract<Sandbox, { kind: 'mount' }>),
      async wrap(script, args, program) {
        starts++
        const words = ['/bin/sh', '-c', starts <= failures ? gone : script, 'x', ...args]
        return { words: [...words, ...program], table: null }
      },
    }
    const options = { argv: ['true'], cwd: '/', env: { PATH }, stdin: 'none' as const, sandbox }
    const started = await launch(options)
    t.equal('startError' in started, failures > 2)
    t.equal(starts, Math.min(failures + 1, 3))
    if ('begin' in started) started.begin()
  }
})

t.test('a launcher that is never ready is not waited for once it is stopped', async (t) => {
  const stop = new AbortController()
  const signal = stop.signal
  const made = (script: string) => {
    const sandbox = sandboxOf(script)
    return launch({ argv: ['/bin/true'], cwd: '/', env: { PATH }, stdin: 'none', sandbox, signal })
  }
  const started = made('exec sleep 60')
  stop.abort()
  t.strictSame(await started, { startError: 'ELAUNCH: stopped before it was ready' })
  t.strictSame(await made('exec sleep 60'), {
    startError: 'ELAUNCH: stopped before it was ready',
  })
  const options = { cwd: '/', env: { PATH }, timeoutMs: 60_000, onOutput() {} }
  const late = new AbortController()
  const argv = ['/bin/true']
  const sandbox = sandboxOf('exec sleep 60', () => setImmediate(() => late.abort()))
  const step = await runStepProcess({ ...options, argv, sandbox, signal: late.signal })
  t.match(step, { aborted: true, exit: null, startError: undefined })
})

t.test('findProgram', async (t) => {
  const cwd = t.testdir({ bin: { plain: 'text' }, 'b:n': {} })
  for (const place of ['bin', 'b:n']) {
    const made = spawn('/bin/sh', ['-c', 'echo echo >run; chmod +x run'], { cwd: join(cwd, place) })
    await once(made, 'exit')
  }
  const cases: [name: string, path: string, found: string | null][] = [
    ['run', `/nowhere:${cwd}/bin`, `${cwd}/bin/run`],
    ['run', 'bin', null],
    ['run', '', null],
    ['run', '/nowhere', null],
    ['./bin/run', '/nowhere', `${cwd}/bin/run`],
    ['b:n/run', '', `${cwd}/b:n/run`],
    [`${cwd}/bin/run`, '', `${cwd}/bin/run`],
    ['./bin/plain', cwd, null],
    ['plain', `${cwd}/bin`, null],
    ['./bin', cwd, null],
    ['bin', cwd, null],
    ['', cwd, null],
    ['a\0b', cwd, null],
  ]
  for (const [name, path, found] of cases) {
    t.equal(await findProgram(name, { path, cwd }), found, JSON.stringify([name, path]))
  }
  const before = process.cwd()
  process.chdir(cwd) // where a relative entry would be looked up
  const relative = await findProgram('run', { path: 'bin', cwd })
  process.chdir(before)
  t.equal(relative, null, 'no entry that is relative counts')
  t.equal(
    await findProgram('sh', { path: undefined, cwd }),
    await findProgram('sh', { path: '/usr/bin:/bin', cwd }),
  )
})
