import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { isFull, isLong } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import { finished, must, newSession, reaches, step } from '../fixtures/session-client.ts'
import { openSimulatedClone, type SimulatedClone, textIn } from '../fixtures/simulated-clone.ts'
import { makeOrigin } from '../fixtures/synced-clones.ts'

/**
 * Many people with clones of one record work, sync in any order, are killed while they sync, and push at the same time.
 * At the end all clones are equal, and every line that was acknowledged is there.
 */

const seed = Number(process.env.CASEFILE_TEST_SEED)
const [CLONES, ROUNDS] = isFull ? [20, 500] : isLong ? [8, 60] : [3, 12]
/** So many people work at once. */
const AT_ONCE = 3

/** A word that is nowhere else, and the case that it was written to. */
interface Written {
  word: string
  number: number
  id: string
  how: string
}

/** What was acknowledged. */
const written: Written[] = []
/** How many words there were when a case was last deleted. Who deleted it may have had all of them. */
const deletedAfter = new Map<string, number>()
let count = 0

/** One piece of work of one person. Its choices depend on the seed and its number alone. */
interface Round {
  random: () => number
  wordFor(id: string, how: string): string
}

type Work = (clone: SimulatedClone, id: string, round: Round) => Promise<void>

const WORK: Record<string, { weight: number; work: Work }> = {
  note: {
    weight: 4,
    async work(clone, id, { wordFor }) {
      const path = `/cases/${id}/memory/notes.md`
      const present = await clone.request('GET', path)
      const before = present.status === 200 ? present.text : '# Notes\n'
      await must(clone, 'PUT', path, `${before}\n${wordFor(id, 'note')}\n`)
    },
  },
  'note by hand': {
    weight: 4,
    async work(clone, id, { wordFor }) {
      if (existsSync(clone.file(id, 'notes.md')))
        clone.appendByHand(wordFor(id, 'note by hand'), id, 'notes.md')
    },
  },
  'description by hand': {
    weight: 1,
    async work(clone, id, { wordFor }) {
      const text = readFileSync(clone.file(id, 'case.md'), 'utf8')
      if (!text.includes('## Proof checklist'))
        clone.appendByHand(wordFor(id, 'description by hand'), id, 'case.md')
    },
  },
  'checklist item': {
    weight: 3,
    async work(clone, id, { wordFor }) {
      const description = `Item ${wordFor(id, 'checklist item')}`
      const item = { description, type: 'log', required: false }
      await must(clone, 'POST', `/cases/${id}/proof/checklist`, item)
    },
  },
  'new case': {
    weight: 1,
    async work(clone, _, { wordFor }) {
      const { id } = await must(clone, 'POST', '/cases', { title: 'A case' })
      await must(clone, 'PUT', `/cases/${id}/memory/notes.md`, `${wordFor(id, 'new case')}\n`)
    },
  },
  state: {
    weight: 2,
    async work(clone, id, { random, wordFor }) {
      const state = oneOf(random, ['OPEN', 'BLOCKED', 'WATCHLIST', 'PLANNING'])
      await must(clone, 'PUT', `/cases/${id}/state`, { state, reason: wordFor(id, 'history') })
    },
  },
  field: {
    weight: 2,
    async work(clone, id, { random }) {
      await must(clone, 'PUT', `/cases/${id}`, { tags: [oneOf(random, ['a', 'b', 'c', 'd'])] })
    },
  },
  session: {
    weight: 3,
    async work(clone, id, { random, wordFor }) {
      const word = wordFor(id, 'session')
      await must(clone, 'PUT', `/cases/${id}/memory/runbook.md`, step(`echo ${word}`))
      const ref = await newSession(clone, id)
      await reaches(clone, ref, 'plan_ready')
      if (random() < 0.3) return // another clone may abandon it
      await finished(clone, ref)
      if (random() < 0.7)
        await must(clone, 'POST', `/cases/${id}/proof`, {
          type: 'log',
          content: wordFor(id, 'proof'),
          session_id: ref.id,
        })
    },
  },
  deletion: {
    weight: 0.3,
    async work(clone, id) {
      await must(clone, 'DELETE', `/cases/${id}`)
      deletedAfter.set(id, count)
    },
  },
}

function oneOf<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!
}

function chooseWork(random: () => number): [string, Work] {
  const all = Object.entries(WORK)
  let at = random() * all.reduce((sum, [, { weight }]) => sum + weight, 0)
  for (const [name, { weight, work }] of all) {
    at -= weight
    if (at < 0) return [name, work]
  }
  return ['note', WORK.note!.work]
}

/** What the service may answer because of what another clone did. */
const ACCEPTED = /: (404|409|412|422) /

async function doSome(clone: SimulatedClone, random: () => number): Promise<void> {
  const ids = clone.cases()
  const [name, work] = chooseWork(random)
  const id = ids.length === 0 ? '' : oneOf(random, ids)
  if (id === '' && name !== 'new case') return
  const words: Written[] = []
  const wordFor = (id: string, how: string) => {
    const word = `w${seed}x${++count}y`
    words.push({ word, number: count, id, how })
    return word
  }
  try {
    await work(clone, id, { random, wordFor })
    written.push(...words)
  } catch (error) {
    if (!ACCEPTED.test(String(error))) throw error // else it is not acknowledged
  }
}

t.test(`${CLONES} clones, ${ROUNDS} rounds, seed ${seed}`, { timeout: 1_200_000 }, async (t) => {
  console.log(`# CASEFILE_TEST_SEED=${seed}`)
  const dir = makeOrigin(t)
  const first = await openSimulatedClone(t, dir, 'p0')
  const clones = [first]
  for (let made = 0; made < 4; made++) await must(first, 'POST', '/cases', { title: 'A case' })
  await first.sync()
  for (let at = 1; at < CLONES; at++) clones.push(await openSimulatedClone(t, dir, `p${at}`))

  const stops: Record<string, number> = {}
  const counts = { syncs: 0, kills: 0, merges: 0, copies: 0 }
  const free = new Set(clones)
  let next = 0
  const began = performance.now()
  async function work(): Promise<void> {
    for (let number = next++; number < ROUNDS; number = next++) {
      const random = randomFrom(seed + number)
      const clone = oneOf(random, [...free])
      free.delete(clone)
      await doSome(clone, random)
      const chance = random()
      if (chance < 0.06) {
        counts.kills++
        await clone.killedSync(random() * 900)
      } else if (chance < 0.35) {
        const { state, code, received, sent, copies } = await clone.sync()
        counts.syncs++
        counts.copies += copies.length
        if (received.commits > 0 && sent.commits > 0) counts.merges++
        if (state === 'stopped') stops[code!] = (stops[code!] ?? 0) + 1
      }
      free.add(clone)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const seconds = Math.round((performance.now() - began) / 1000)
  t.comment(`${seconds} s, ${JSON.stringify({ ...counts, stops })}`)
  await settle(t, clones)
  await compare(t, clones)
})

/** Until a round of syncs moves nothing. */
async function settle(t: Test, clones: readonly SimulatedClone[]): Promise<void> {
  for (let round = 0; round < 10; round++) {
    let moved = 0
    for (const clone of clones) {
      const { state, reason, committed, received, sent } = await clone.sync()
      if (state === 'stopped') t.comment(`${clone.name}: ${reason}`)
      moved += (committed ? 1 : 0) + received.commits + sent.commits
    }
    if (moved === 0) return
  }
  t.fail('the clones never come to rest')
}

async function compare(t: Test, clones: readonly SimulatedClone[]): Promise<void> {
  const trees = clones.map((clone) => clone.git('rev-parse', 'HEAD^{tree}').trim())
  t.equal(new Set(trees).size, 1, 'all clones are equal')
  for (const clone of clones) t.equal(clone.git('status', '--porcelain'), '', clone.name)

  const [{ memory, stateDir }] = clones as [SimulatedClone]
  const text = textIn(memory)
  const gone = written.filter(
    ({ word, id, number }) => !text.includes(word) && number > (deletedAfter.get(id) ?? 0),
  )
  t.strictSame(gone, [], `all of ${written.length} acknowledged words are there`)

  const { findings } = await checkWorkspace({ root: join(memory, '..'), stateDir }, process.env)
  const copies = clones[0]!
    .git('ls-files', '-z')
    .split('\0')
    .filter((name) => name.includes('.conflict-'))
  const named = findings.filter(({ code }) => code === 'conflict_copy').map(({ file }) => file)
  for (const copy of copies)
    t.ok(
      named.some((file) => file.endsWith(copy)),
      `check names ${copy}`,
    )
  const others = findings.filter(({ code }) => !ALLOWED.includes(code))
  t.strictSame(others, [], 'no other problem: every file is readable, no seal is broken')

  for (const clone of clones) {
    const events = await clone.finalEvents()
    const once = events.filter((event) => ONCE.test(event))
    t.equal(new Set(once).size, once.length, `${clone.name} sends no event twice`)
  }
}

/** A session of another machine that was never approved stays live there. */
const ALLOWED: readonly string[] = ['conflict_copy', 'foreign_session']
/** What happens once to a case or a session. */
const ONCE = /^\["(session_created|session_completed|session_sealed)"/
