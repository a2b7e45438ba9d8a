import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConnectionLost } from '../../src/client/request.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import { openReceiver, refusesOnce } from '../fixtures/receiver.ts'
import { must } from '../fixtures/session-client.ts'

const CHANGES = isFull ? 500 : 120
const KILLS = isFull ? 50 : 6
const CLIENTS = 4

interface Arrived {
  id: string
  proof: string
  body: string
}

/**
 * Notes what it answered with 204, or was about to. It refuses what `fails` says, each only once: the
 * second try comes after 5 s, the third after 5 minutes.
 */
async function receiver(t: Test, fails: () => boolean) {
  const arrived: Arrived[] = []
  const otherwise = refusesOnce(fails, ({ headers, body: bytes }) => {
    const body = bytes.toString()
    const id = String(headers['webhook-id'])
    arrived.push({ id, body, proof: JSON.parse(body).payload.proof_id })
  })
  const { url } = await openReceiver(t, { otherwise })
  return { url, arrived }
}

t.test('kill -9 at any moment loses no delivery, and repeats few', async (t) => {
  const seed = Number(process.env.CASEFILE_TEST_SEED)
  t.comment(`CASEFILE_TEST_SEED=${seed}`)
  const random = randomFrom(seed)
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const folder = t.testdir({ root: {}, state: {} })
  const service = await startBuilt(t, {
    root: join(folder, 'root'),
    stateDir: join(folder, 'state'),
  })
  const healthy = await receiver(t, () => false)
  const flaky = await receiver(t, () => random() < 0.3)
  for (const { url } of [healthy, flaky]) {
    await must(service, 'POST', '/webhooks', { url, events: ['proof_created'], secret: 's' })
  }
  const made = await must(service, 'POST', '/cases', { title: 'A case' })
  const acknowledged: string[] = []
  let started = 0
  let kills = 0
  let isDown: Promise<void> | null = null

  async function kill(): Promise<void> {
    await service.stop('SIGKILL')
    kills++
    await service.restart()
  }

  /** Attaches proof until all is done; a request that dies with the service is no acknowledged one. */
  async function client(): Promise<void> {
    while (started < CHANGES) {
      const n = started++
      await isDown
      try {
        const { status, json } = await service.request('POST', `/cases/${made.id}/proof`, {
          type: 'log',
          content: `Proof ${n}`,
        })
        if (status === 201) acknowledged.push(json.id)
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error
      }
      if (n > 0 && n % Math.floor(CHANGES / KILLS) === 0) {
        const ms = 20 * random()
        isDown = new Promise<void>((resolve) => setTimeout(resolve, ms)).then(kill)
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  await isDown
  // the last proof is the sign that all before it were told
  const { id: last } = await must(service, 'POST', `/cases/${made.id}/proof`, {
    type: 'log',
    content: 'The last one',
  })
  const proofs: { id: string }[] = await must(service, 'GET', `/cases/${made.id}/proof`)
  for (const { arrived } of [healthy, flaky]) {
    while (!proofs.every(({ id }) => arrived.some(({ proof }) => proof === id))) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  t.ok(acknowledged.length > CHANGES / 2, `${acknowledged.length} of ${CHANGES} acknowledged`)
  t.ok(acknowledged.every((id) => proofs.some((proof) => proof.id === id)))
  t.ok(proofs.some(({ id }) => id === last))
  t.comment(`${kills} kills, ${proofs.length} proofs`)
  for (const [name, { arrived }] of Object.entries({ healthy, flaky })) {
    const byProof = new Map<string, Arrived[]>()
    for (const one of arrived) byProof.set(one.proof, [...(byProof.get(one.proof) ?? []), one])
    t.equal(byProof.size, proofs.length, `${name}: none lost, none invented`)
    const known = new Set(arrived.map(({ id, body }) => `${id} ${body}`))
    t.equal(known.size, byProof.size, 'a repeat has the same id and the same bytes')
    const repeats = arrived.length - byProof.size
    // outcomes are saved some at a time, ten at most
    t.ok(repeats <= 10 * kills, `${name}: ${repeats} repeats in ${kills} kills`)
  }
  const order = healthy.arrived.map(({ id }) => Number(id.split('_')[1]))
  const once = order.filter((event, n) => order.indexOf(event) === n)
  t.strictSame(
    once,
    [...once].sort((a, b) => a - b),
    'a receiver that answers gets them in order',
  )
})

t.test(
  'a registration that was acknowledged outlives a kill -9, and so does its end',
  async (t) => {
    t.teardown(() => {})
    const folder = t.testdir({ root: {}, state: {} })
    const service = await startBuilt(t, {
      root: join(folder, 'root'),
      stateDir: join(folder, 'state'),
    })
    const { url, arrived } = await receiver(t, () => false)
    const add = (path: string) => must(service, 'POST', '/webhooks', { url: `${url}${path}` })
    const [changed, deleted] = [await add('changed'), await add('deleted')]
    for (const round of [1, 2, 3]) {
      const added = await add(`added-${round}`)
      await must(service, 'PATCH', `/webhooks/${changed.id}`, { active: round === 2 })
      if (round === 1) await must(service, 'DELETE', `/webhooks/${deleted.id}`)
      await service.stop('SIGKILL')
      await service.restart()
      const found: { id: string; active: boolean }[] = await must(service, 'GET', '/webhooks')
      t.ok(found.some(({ id }) => id === added.id))
      t.notOk(found.some(({ id }) => id === deleted.id))
      t.equal(found.find(({ id }) => id === changed.id)?.active, round === 2)
    }
    t.strictSame(arrived, [])
  },
)
