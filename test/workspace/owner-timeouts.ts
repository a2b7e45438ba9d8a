import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { AppError } from '../../src/model/app-error.ts'
import { socketAddress } from '../../src/platform/local-socket.ts'
import { keysOf } from '../../src/state/owner/owner-keys.ts'
import { isTaken, ownerIn, readRecord } from '../../src/state/owner/owner-record.ts'
import { createOwnerTimeouts } from '../../src/state/owner/owner-timeouts.ts'
import { takeOwnership } from '../../src/state/owner/ownership.ts'

const command = (pid: number) => ({ pid, short: true })

t.test('how long an owner is waited for', async (t) => {
  let time = 60_000 // whatever was done before any owner was met
  const isWaitedFor = createOwnerTimeouts(() => time)
  const meet = (owner: Parameters<typeof isWaitedFor>[0], after: number) => {
    time += after
    return isWaitedFor(owner)
  }
  t.ok(meet(command(1), 0))
  t.ok(meet(command(1), 14_000), 'a command')
  t.ok(meet(command(2), 14_000), 'the next one anew')
  t.ok(meet(null, 14_000), 'whoever says nothing')
  t.ok(meet(null, 14_000), 'as a command')
  t.notOk(meet(null, 2000), 'but not for ever')
  t.notOk(meet(command(2), 0), 'and what was met in between is no excuse')
  t.ok(meet({ pid: 3 }, 0), 'a service')
  t.ok(meet({ pid: 3 }, 4000))
  t.notOk(meet({ pid: 3 }, 2000), 'for less')
  const unrecorded = { pid: 4, unrecorded: true }
  t.ok(meet(unrecorded, 0), 'one that is known by its pid alone')
  t.ok(meet(unrecorded, 14_000), 'may be a command')
  t.notOk(meet({ pid: 5, unrecorded: true, stopped: true }, 0), 'none that was stopped')
  t.notOk(meet({ pid: 6, short: true, stopped: true }, 0), 'a command neither')
})

t.test('what a refusal, and the record, say of the owner', async (t) => {
  const folder = t.testdir({ memory: {}, state: {}, other: {} })
  const [memoryRoot, stateDir] = [join(folder, 'memory'), join(folder, 'state')]
  const take = (stateDir: string) => takeOwnership({ memoryRoot, stateDir, short: true })
  const errorFrom = (taking: Promise<unknown>) => taking.then(() => null).catch((error) => error)

  const owner = await take(stateDir)
  const byCommand = await errorFrom(take(stateDir))
  t.ok(isTaken(byCommand))
  t.match(ownerIn(byCommand), command(process.pid))
  t.match(await readRecord(stateDir), command(process.pid), 'for as long as it cannot answer')
  await owner.release()

  const mute = createServer(() => {}).listen(socketAddress((await keysOf(memoryRoot))[0]!))
  t.teardown(() => mute.close())
  await once(mute, 'listening')
  const byMute = await errorFrom(take(join(folder, 'other')))
  t.ok(isTaken(byMute))
  const known = process.platform === 'linux' ? { pid: process.pid, unrecorded: true } : null
  t.match(ownerIn(byMute), known, 'one that neither answers nor has left a record')
  t.notOk(isTaken(new AppError('already_active', 'Port 80 is in use.')), 'a port has no owner')
})
