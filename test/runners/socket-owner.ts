import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { runProcess } from '../../src/runners/process/run-processes.ts'
import { type Connection, findSocketOwner } from '../../src/runners/process/socket-owner.ts'
import { built } from '../fixtures/built.ts'
import { inLongLane } from '../fixtures/full.ts'

const isLinux = process.platform === 'linux'
const isIPv6 = networkInterfaces().lo?.some(({ address }) => address === '::1') ?? false
const linuxOnly = isLinux ? {} : { skip: '/proc is on Linux only' }
const mounts = isLinux && spawnSync('unshare', ['--mount', 'true']).status === 0
const rootOnly = mounts ? {} : { skip: 'needs the right to make mounts, on Linux' }
const MARK = 'the-mark-of-this-test'
const marked = { CASEFILE_RUN: MARK }
const PATH = process.env.PATH ?? '/usr/bin:/bin'
const FOLDER_ID = '0b1e2d3c-0000-4000-8000-00000000abcd'
const NOBODY = 65_534

/** Connects, says hello, and lives as long as the connection; leaves it, if it is to, when answered. */
const CLIENT = `
const [, port, host, then = ''] = process.argv
const socket = require('node:net').connect({ port, host, allowHalfOpen: true })
socket.on('close', () => process.exit()).on('error', () => {}).resume()
socket.write('hello')
socket.once('data', () => {
  if (then === 'leave') process.exit()
  if (then === 'end') socket.end()
})`

interface Scene {
  /** A shell script, in a session of its own; `$CLIENT` in it connects. */
  script: string
  env?: Record<string, string>
  /** Where the service listens. */
  host?: string
  /** A command that starts the shell. */
  through?: string[]
  /** Whether the service knows the shell as started for the run. */
  isNoted?: boolean
  /** What must have happened before the sender is looked for. */
  until?(socket: Socket, leader: ChildProcess): Promise<unknown>
}

/** Who `findSocketOwner` says has connected. */
async function judged(t: Test, scene: Scene) {
  const { script, env = {}, through = [], isNoted = false, host = '127.0.0.1' } = scene
  const server = createServer({ allowHalfOpen: true }).listen(0, host)
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connected = once(server, 'connection') as Promise<[Socket]>
  const text = script.replaceAll('$CLIENT', `"$NODE" -e "$SCRIPT" ${port}`)
  const [program = '', ...args] = [...through, '/bin/sh', '-c', `echo ready; read go; ${text}`]
  const leader = spawn(program, args, {
    env: { PATH, NODE: process.execPath, SCRIPT: CLIENT, PORT: String(port), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = once(leader, 'exit')
  await once(leader.stdout, 'data')
  const runs = [
    { runId: MARK, processes: isNoted ? [runProcess(leader.pid!)] : [], folderId: FOLDER_ID },
  ]
  leader.stdin.end('go\n')
  const [socket] = await connected
  socket.on('error', () => {})
  t.teardown(async () => {
    socket.destroy()
    await exited
  })
  const connection = connectionOf(socket)
  // a reset may drop what was said before
  await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  socket.write('hello')
  await scene.until?.(socket, leader)
  return { sender: findSocketOwner(connection, runs), leader, runs, connection }
}

function connectionOf(socket: Socket): Connection {
  return {
    local: { address: socket.localAddress!, port: socket.localPort! },
    remote: { address: socket.remoteAddress!, port: socket.remotePort! },
  }
}

const exited = async (_: Socket, leader: ChildProcess) => {
  if (leader.exitCode === null) await once(leader, 'exit')
}
const ended = async (socket: Socket) => {
  if (!socket.readableEnded) await once(socket, 'end')
}

const isOwn = { kind: 'run', run: { runId: MARK } }

const scenes: [name: string, scene: Scene, expected: object][] = [
  ['a process with the mark', { script: '$CLIENT', env: marked }, isOwn],
  [
    'an orphan in a session of its own',
    { script: '(setsid $CLIENT &) & wait', env: marked, until: exited },
    isOwn,
  ],
  [
    'a grandchild without one',
    {
      script: 'env -i setsid sh -c \'"$0" -e "$1" "$2" & wait\' "$NODE" "$SCRIPT" $PORT & wait',
      env: marked,
    },
    isOwn,
  ],
  [
    'the process that was started for it, without an environment',
    { script: 'exec env -i $CLIENT', isNoted: true },
    isOwn,
  ],
  [
    'an orphan of it without one',
    { script: '(env -i $CLIENT &) & wait', isNoted: true, until: exited },
    isOwn,
  ],
  [
    'a half-closed connection',
    { script: '$CLIENT 127.0.0.1 end', env: marked, until: ended },
    isOwn,
  ],
  ['a socket of IPv6', { script: '$CLIENT ::ffff:127.0.0.1', env: marked }, isOwn],
  ...(isIPv6
    ? ([['over ::1', { script: '$CLIENT ::1', env: marked, host: '::1' }, isOwn]] as [
        string,
        Scene,
        object,
      ][])
    : []),
  ['a stranger', { script: '$CLIENT' }, { kind: 'other' }],
  [
    "a process of another service's run",
    { script: '$CLIENT', env: { CASEFILE_RUN: 'another-mark' } },
    { kind: 'other' },
  ],
  [
    'one that has left',
    { script: '$CLIENT 127.0.0.1 leave', until: exited },
    { kind: 'unknown', why: 'gone' },
  ],
]

for (const [name, scene, expected] of scenes) {
  t.test(name, linuxOnly, async (t) => {
    t.match((await judged(t, scene)).sender, expected)
  })
}

t.test('where /proc shows processes alone', rootOnly, async (t) => {
  const module = (name: string) => built(`src/runners/process/${name}.ts`)
  const script = `
    const { findSocketOwner } = await import('${module('socket-owner')}')
    const { runProcess } = await import('${module('run-processes')}')
    const { killRun } = await import('${module('kill-run')}')
    const { spawn } = await import('node:child_process')
    const { once } = await import('node:events')
    const server = (await import('node:net')).createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const args = ['-e', process.env.SCRIPT, server.address().port]
    const child = spawn(process.execPath, args, { detached: true, env: {} })
    const run = { runId: 'x', processes: [runProcess(child.pid)] }
    const [socket] = await once(server, 'connection')
    await once(socket, 'data')
    const end = (side) => ({ address: socket[side + 'Address'], port: socket[side + 'Port'] })
    const { kind } = findSocketOwner({ local: end('local'), remote: end('remote') }, [run])
    console.log(kind, await killRun(run))
    process.exit()`
  const said = async (before: string) => {
    const shell = `mount -t proc -o subset=pid proc /proc && ${before} exec "$@"`
    const around = ['--mount', '--pid', '--fork', 'sh', '-c', shell, 'sh']
    const words = [...around, process.execPath, '--input-type=module', '-e', script]
    const env = { PATH, SCRIPT: CLIENT }
    const child = spawn('unshare', words, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    return text(child.stdout)
  }
  t.equal(await said(''), 'run 1\n', 'a sender is known, and ended')
  t.equal(await said('mount -t tmpfs none /proc/$$/net &&'), 'other 1\n', 'connections are hidden')
})

t.test('in the mount namespace of the run', rootOnly, async (t) => {
  const lost = { script: '(env -i setsid $CLIENT &) & wait', until: exited }
  const folder = join(t.testdir({ [`work-${FOLDER_ID}`]: {} }), `work-${FOLDER_ID}`)
  const mounted = `mount --bind "${folder}" "${folder}" && exec "$@"`
  const through = ['unshare', '--mount', 'sh', '-c', mounted, 'sh']
  const { sender } = await judged(t, { ...lost, through, isNoted: true })
  t.match(sender, isOwn)
  t.match((await judged(t, { ...lost, isNoted: true })).sender, { kind: 'other' }, 'without one')
})

t.test('a socket that two processes hold', { ...linuxOnly, ...inLongLane }, async (t) => {
  for (const [name, runId, expected] of [
    ['one of them marked', MARK, isOwn],
    ['none of them', 'another-mark', { kind: 'other' }],
  ] as const) {
    await t.test(name, async (t) => {
      const child = `CASEFILE_RUN=${runId} sh -c "echo hello >&3; exec cat <&3"`
      const both = `exec 3<>/dev/tcp/127.0.0.1/$PORT; ${child} & exec cat <&3`
      t.match((await judged(t, { script: `exec bash -c '${both}'` })).sender, expected)
    })
  }
})

t.test('a process of the run that shows nothing of itself', rootOnly, async (t) => {
  const hidden = await judged(t, { script: '$CLIENT', isNoted: true })
  const other = await judged(t, { script: '$CLIENT' })
  const through = ['setpriv', '--reuid', String(NOBODY), '--clear-groups']
  const open = await judged(t, { script: 'env -i $CLIENT', through })
  const reported = ({ connection }: { connection: Connection }) => {
    process.seteuid?.(NOBODY)
    try {
      return findSocketOwner(connection, hidden.runs)
    } finally {
      process.seteuid?.(0)
    }
  }
  t.match(reported(hidden), { kind: 'unknown', why: 'hidden' })
  t.match(
    reported(other),
    { kind: 'unknown', why: 'hidden' },
    'another, whose files are hidden too',
  )
  t.match(reported(open), { kind: 'other' }, 'another, who shows them')
})
