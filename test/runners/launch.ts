import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { processStart, processStat } from '../../src/platform/processes.ts'
import type { Launched } from '../../src/runners/enclosure/enclosure.ts'
import { type LaunchOptions, launch } from '../../src/runners/enclosure/launch.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { findProgram } from '../../src/runners/process/find-program.ts'
import { built } from '../fixtures/built.ts'

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

const { signal } = new AbortController()
const sandbox = noSandbox()
t.teardown(sandbox.end)

async function held(script: string, options: Partial<LaunchOptions>): Promise<Launched> {
  const argv = ['sh', '-c', script]
  const common = { argv, cwd: '/', env: { PATH }, stdin: 'none', sandbox, signal } as const
  const started = await launch({ ...common, ...options })
  if ('startError' in started) throw new Error(started.startError)
  return started
}

t.test('a program is held until it may begin', async (t) => {
  const cwd = t.testdir()
  const script = 'touch began; echo $$; read _'
  const { pid, stdin, stdout, begin, hasExited } = await held(script, { cwd, stdin: 'pipe' })
  const start = processStart(pid)
  await delay(50) // nothing to wait for: it is about what does not happen
  t.notOk(existsSync(join(cwd, 'began')))
  t.notOk(hasExited(), 'it is alive')

  begin()
  await once(stdout, 'readable')
  t.equal(processStart(pid), start, 'when it started is what was seen before')
  stdin?.end()
  t.equal(await text(stdout), `${pid}\n`, 'and it is the same process')
  t.ok(existsSync(join(cwd, 'began')))
})

t.test('a held program never runs when its starter dies', linuxOnly, async (t) => {
  const cwd = t.testdir()
  const script = `
    const { launch } = await import(process.env.LAUNCH)
    const { noSandbox } = await import(process.env.SANDBOX)
    const env = { PATH: process.env.PATH }
    const { signal } = new AbortController()
    const options = { argv: ['touch', 'began'], cwd: process.env.CWD, env, stdin: 'none', sandbox: noSandbox(), signal }
    console.log((await launch(options)).pid)
    await new Promise(() => setInterval(() => {}, 1000))`
  const [launcher, sandboxes] = ['launch', 'sandbox'].map((name) =>
    built(`src/runners/enclosure/${name}.ts`),
  )
  const starter = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, LAUNCH: launcher, SANDBOX: sandboxes, CWD: cwd },
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
