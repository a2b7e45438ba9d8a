import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { AppError } from '../../src/model/app-error.ts'
import { createOwnerTimeouts, ownerAddress } from '../../src/state/owner/find-owner.ts'
import { isTaken, ownerIn, readOwner, thisProcess } from '../../src/state/owner/owner-file.ts'
import { takeOwnership } from '../../src/state/owner/ownership.ts'

const command = (pid: number) => ({ ...thisProcess(), pid, short: true as const })

t.test('how long an owner is waited for', async (t) => {
  let time = 60_000 // whatever was done before any owner was met
  const { now } = performance
  performance.now = () => time
  t.teardown(() => {
    performance.now = now
  })
  const isWaitedFor = createOwnerTimeouts()
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
  const service = { ...thisProcess(), pid: 3 }
  t.ok(meet(service, 0), 'a service')
  t.ok(meet(service, 4000))
  t.notOk(meet(service, 2000), 'for less')
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
  t.match(await readOwner(stateDir), command(process.pid), 'for as long as it cannot answer')
  await owner.release()

  const mute = createServer(() => {}).listen(await ownerAddress(memoryRoot))
  t.teardown(() => mute.close())
  await once(mute, 'listening')
  const byMute = await errorFrom(take(join(folder, 'other')))
  t.ok(isTaken(byMute))
  const known = process.platform === 'linux' ? { pid: process.pid, silent: true } : null
  t.match(ownerIn(byMute), known, 'one that neither answers nor has left a record')
  t.notOk(isTaken(new AppError('already_active', 'Port 80 is in use.')), 'a port has no owner')
})
