import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { isBrief, isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import { finished, git, must, newSession, reaches, step } from '../fixtures/session-client.ts'
import { openSimulatedClone, type SimulatedClone, textIn } from '../fixtures/simulated-clone.ts'

/**
 * Many people with clones of one record work, sync in any order, are killed while they sync, and push at the same time.
 * At the end all clones are equal, and every line that was acknowledged is there.
 */

const seed = Number(process.env.CASEFILE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
const [CLONES, ROUNDS] = isBrief ? [3, 12] : isFull ? [20, 500] : [8, 120]

const random = randomFrom(seed)
const below = (limit: number) => Math.floor(random() * limit)
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]!

/** A word that is nowhere else, and the case that it was written to. */
interface Written {
  word: string
  id: string
  how: string
}

const written: Written[] = []
const deleted = new Set<string>()
let count = 0

function wordFor(id: string, how: string): string {
  const word = `w${seed}x${++count}y`
  written.push({ word, id, how })
  return word
}

type Work = (clone: SimulatedClone, id: string) => Promise<void>

const WORK: Record<string, { weight: number; work: Work }> = {
  note: {
    weight: 4,
    async work(clone, id) {
      const path = `/cases/${id}/memory/notes.md`
      const present = await clone.request('GET', path)
      const before = present.status === 200 ? present.text : '# Notes\n'
      await must(clone, 'PUT', path, `${before}\n${wordFor(id, 'note')}\n`)
    },
  },
  'note by hand': {
    weight: 4,
    async work(clone, id) {
      if (existsSync(clone.file(id, 'notes.md')))
        clone.appendByHand(wordFor(id, 'note by hand'), id, 'notes.md')
    },
  },
  'description by hand': {
    weight: 1,
    async work(clone, id) {
      const text = readFileSync(clone.file(id, 'case.md'), 'utf8')
      if (!text.includes('## Proof checklist'))
        clone.appendByHand(wordFor(id, 'description by hand'), id, 'case.md')
    },
  },
  'checklist item': {
    weight: 3,
    async work(clone, id) {
      const description = `Item ${wordFor(id, 'checklist item')}`
      const item = { description, type: 'log', required: false }
      await must(clone, 'POST', `/cases/${id}/proof/checklist`, item)
    },
  },
  'new case': {
    weight: 1,
    async work(clone) {
      const { id } = await must(clone, 'POST', '/cases', { title: 'A case' })
      await must(clone, 'PUT', `/cases/${id}/memory/notes.md`, `${wordFor(id, 'new case')}\n`)
    },
  },
  state: {
    weight: 2,
    async work(clone, id) {
      const state = oneOf(['OPEN', 'BLOCKED', 'WATCHLIST', 'PLANNING'])
      await must(clone, 'PUT', `/cases/${id}/state`, { state, reason: wordFor(id, 'history') })
    },
  },
  field: {
    weight: 2,
    async work(clone, id) {
      await must(clone, 'PUT', `/cases/${id}`, { tags: [oneOf(['a', 'b', 'c', 'd'])] })
    },
  },
  session: {
    weight: 3,
    async work(clone, id) {
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
      deleted.add(id)
      await must(clone, 'DELETE', `/cases/${id}`)
    },
  },
}

function chooseWork(): [string, Work] {
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

async function doSome(clone: SimulatedClone): Promise<void> {
  const ids = clone.cases()
  const [name, work] = chooseWork()
  const id = ids.length === 0 ? '' : oneOf(ids)
  if (id === '' && name !== 'new case') return
  const before = written.length
  try {
    await work(clone, id)
  } catch (error) {
    if (!ACCEPTED.test(String(error))) throw error
    written.splice(before) // not acknowledged
  }
}

t.test(`${CLONES} clones, ${ROUNDS} rounds, seed ${seed}`, { timeout: 1_200_000 }, async (t) => {
  t.comment(`seed ${seed}`)
  t.teardown(() => {})
  const dir = t.testdir()
  git(dir, 'init', '--quiet', '--bare', '--initial-branch=main', 'origin.git')
  const clones: SimulatedClone[] = []
  t.teardown(() => Promise.all(clones.map((clone) => clone.close())))
  const first = await openSimulatedClone(dir, 'p0')
  clones.push(first)
  for (let made = 0; made < 4; made++) await must(first, 'POST', '/cases', { title: 'A case' })
  await first.sync()
  for (let at = 1; at < CLONES; at++) clones.push(await openSimulatedClone(dir, `p${at}`))

  const stops = new Map<string, number>()
  let syncs = 0
  let kills = 0
  const began = performance.now()
  for (let round = 0; round < ROUNDS; round++) {
    const clone = oneOf(clones)
    await doSome(clone)
    const chance = random()
    if (chance < 0.06) {
      kills++
      await clone.killedSync(below(900))
    } else if (chance < 0.35) {
      const others = chance < 0.12 ? [clone, oneOf(clones)] : [clone]
      for (const { state, code } of await Promise.all(
        [...new Set(others)].map((each) => each.sync()),
      )) {
        syncs++
        if (state === 'stopped') stops.set(code!, (stops.get(code!) ?? 0) + 1)
      }
    }
  }
  t.comment(
    `${syncs} syncs, ${kills} killed, stops ${JSON.stringify([...stops])}, ${Math.round(performance.now() - began)} ms`,
  )
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

  const [{ memory, stateDir, cases }] = clones as [SimulatedClone]
  const text = textIn(memory)
  const present = new Set(cases())
  const gone = written.filter(
    ({ word, id }) => !text.includes(word) && (present.has(id) || !deleted.has(id)),
  )
  t.strictSame(gone, [], `all of ${written.length} acknowledged words are there`)

  const { findings } = await checkWorkspace({ root: join(memory, '..'), stateDir }, process.env)
  const copies = (clones[0]!.git('ls-files', '-z') as string)
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
    const events = await clone.events()
    const once = events.filter((event) => ONCE.test(event))
    t.equal(new Set(once).size, once.length, `${clone.name} sends no event twice`)
  }
}

/** A session of another machine that was never approved stays live there. */
const ALLOWED: readonly string[] = ['conflict_copy', 'foreign_session']
/** What happens once to a case or a session. */
const ONCE = /^\["(session_created|session_completed|session_sealed)"/
