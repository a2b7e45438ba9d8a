import { execFileSync } from 'node:child_process'
import t from 'tap'
import type { ProgramCall } from '../../src/platform/program-child.ts'
import { startProgram } from '../../src/platform/program-child.ts'
import { createProgramProcess } from '../../src/platform/program-process.ts'

const call = (file: string, args: string[], more: Partial<ProgramCall> = {}): ProgramCall => ({
  file,
  args,
  cwd: process.cwd(),
  env: process.env,
  input: '',
  maxBytes: Number.POSITIVE_INFINITY,
  timeoutMs: 20_000,
  ...more,
})
const shell = (script: string, more?: Partial<ProgramCall>) => call('sh', ['-c', script], more)

/** The processes of this test that start programs. */
function starters(): number[] {
  const listed = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)])
  return String(listed)
    .split('\n')
    .filter((line) => line.includes('program-process-main'))
    .map((line) => Number.parseInt(line, 10))
}

for (const [name, start] of [
  ['in this process', startProgram],
  ['in a process of its own', createProgramProcess()],
] as const) {
  t.test(`a program, started ${name}`, async (t) => {
    const done = await start(shell('cat; echo bad >&2; exit 3', { input: 'grüße\0' }))
    t.match(done, { exit: 3, signal: null, stderr: 'bad\n', isCut: false })
    t.equal(done.stdout.toString(), 'grüße\0')
    t.ok(Buffer.isBuffer(done.stdout))
    const bytes = Buffer.alloc(5_000_000, 'x')
    t.ok((await start(call('cat', [], { input: bytes }))).stdout.equals(bytes), 'megabytes')
    t.equal((await start(call('true', [], { input: bytes }))).exit, 0, 'input that is not read')
    const own = await start(
      shell('echo $OWN; pwd', { cwd: '/', env: { ...process.env, OWN: '1' } }),
    )
    t.equal(own.stdout.toString(), '1\n/\n')

    const cut = await start(shell('exec yes', { maxBytes: 1000 }))
    t.match(cut, { exit: null, signal: 'SIGKILL', isCut: true })
    const late = await start(shell('exec sleep 60', { timeoutMs: 50 }))
    t.match(late, { exit: null, signal: 'SIGKILL', isCut: false })
    await t.rejects(start(call('no-such-program', [])), {
      code: 'ENOENT',
      syscall: 'spawn no-such-program',
    })
    await t.rejects(start(shell('true', { cwd: '/no/such/folder' })), { code: 'ENOENT' })
    await t.rejects(start(call('true', ['a\0b'])), { code: 'ERR_INVALID_ARG_VALUE' })

    const controller = new AbortController()
    const aborted = start(shell('exec sleep 60'), controller.signal)
    controller.abort()
    await t.rejects(aborted, { name: 'AbortError' })
    await t.rejects(start(shell('true'), controller.signal), { name: 'AbortError' })

    const many = await Promise.all(Array.from({ length: 12 }, (_, n) => start(shell(`echo ${n}`))))
    t.strictSame(
      many.map(({ stdout }) => Number(stdout)),
      Array.from({ length: 12 }, (_, n) => n),
    )
  })
}

t.test(
  'if that process is killed, what it ran fails, and the next call has a new one',
  async (t) => {
    const before = new Set(starters())
    const start = createProgramProcess()
    await start(shell('true'))
    const [pid] = starters().filter((each) => !before.has(each))
    const running = start(shell('exec sleep 60'))
    process.kill(pid!, 'SIGINT') // as by a Ctrl-C in the terminal, which is for the service
    process.kill(pid!, 'SIGTERM')
    t.equal((await start(shell('exit 4'))).exit, 4)
    process.kill(pid!, 'SIGKILL')
    await t.rejects(running, { message: 'the process that starts programs has ended' })
    t.equal((await start(shell('exit 5'))).exit, 5)
  },
)
