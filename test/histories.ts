import fc from 'fast-check'
import { type Test, t } from 'tap'
import { byHand } from './fixtures/history/by-hand.ts'
import { sameOnDisk, toldAsModel } from './fixtures/history/checks.ts'
import { endings } from './fixtures/history/endings.ts'
import { create, newModel } from './fixtures/history/model.ts'
import { requests } from './fixtures/history/requests.ts'
import { sessions } from './fixtures/history/sessions.ts'
import { type System, systemApart, systemHere } from './fixtures/history/system.ts'
import { must } from './fixtures/session-client.ts'

/*
 * Random histories of a workspace: requests, saves by hand, sessions, restarts and kills, against a small
 * model in memory (fixtures/history/). A failure prints its seed and its path: with both as CASEFILE_SEED and
 * CASEFILE_PATH just that history is played again, with CASEFILE_SHRINK=1 also shorter ones, as long as
 * they fail too. CASEFILE_HISTORIES says how many there are.
 */
const { CASEFILE_HISTORIES = '100', CASEFILE_SEED, CASEFILE_PATH, CASEFILE_SHRINK } = process.env
const count = Number(CASEFILE_HISTORIES)
const isReplay = CASEFILE_SEED !== undefined
const MOST_ACTIONS = 25

const KINDS = [
  {
    name: 'in this process',
    share: 0.8,
    lanes: 4,
    open: (_: Test, dir: string) => systemHere(dir),
  },
  { name: 'of the built program, which is killed', share: 0.2, lanes: 2, open: systemApart },
]

const actions = [...requests, ...requests, ...byHand, ...sessions, ...endings]

function histories(numRuns: number, open: () => Promise<System>): Promise<void> {
  const commands = fc.commands(actions, { maxCommands: MOST_ACTIONS, size: 'max' })
  const property = fc.asyncProperty(commands, async (commands) => {
    const [model, system] = [newModel(), await open()]
    try {
      for (const title of ['One', 'Two']) {
        create(model, (await must(system, 'POST', '/cases', { title })).id, { title })
      }
      await fc.asyncModelRun(() => ({ model, real: system }), commands)
      await toldAsModel(model, system)
    } finally {
      await system.close()
    }
    sameOnDisk(model, system)
  })
  return fc.assert(property, {
    ...{ numRuns, endOnFailure: CASEFILE_SHRINK === undefined },
    ...(isReplay ? { seed: Number(CASEFILE_SEED) } : {}),
    ...(CASEFILE_PATH === undefined ? {} : { path: CASEFILE_PATH }),
  })
}

for (const { name, share, lanes, open } of KINDS) {
  const all = isReplay ? 1 : Math.ceil(count * share)
  t.test(`${all} histories ${name}`, { timeout: 120_000 + all * 10_000 }, async (t) => {
    const dir = t.testdir()
    const lane = () => histories(Math.ceil(all / lanes), () => open(t, dir))
    await Promise.all(Array.from({ length: Math.min(lanes, all) }, lane)) // they mostly wait
  })
}
