import fc from 'fast-check'
import { type Test, t } from 'tap'
import { inLongLane, isFull, isLong } from './fixtures/full.ts'
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
 * model in memory (fixtures/history/). A failure prints its seed and its path: with both as CASEFILE_TEST_SEED and
 * CASEFILE_TEST_PATH just that history is played again, with CASEFILE_SHRINK=1 also shorter ones, as long as
 * they fail too. CASEFILE_HISTORIES says how many there are.
 */
const {
  CASEFILE_HISTORIES = isFull ? '150' : isLong ? '100' : '4',
  CASEFILE_TEST_SEED,
  CASEFILE_TEST_PATH,
  CASEFILE_SHRINK,
} = process.env
const count = Number(CASEFILE_HISTORIES)
const MOST_ACTIONS = isFull ? 25 : 10
const LIMIT = { timeout: 120_000 + count * 10_000 }

const actions = [...requests, ...requests, ...byHand, ...sessions, ...endings]

function histories(numRuns: number, open: () => Promise<System>, seed: number): Promise<void> {
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
    await sameOnDisk(model, system)
  })
  return fc.assert(property, {
    numRuns,
    seed,
    endOnFailure: CASEFILE_SHRINK === undefined,
    ...(CASEFILE_TEST_PATH === undefined ? {} : { path: CASEFILE_TEST_PATH }),
  })
}

t.test('random histories in this process', LIMIT, (t) => played(t, 0.8, 4, systemHere))

t.test('random histories of the built program, which is killed', { ...LIMIT, ...inLongLane }, (t) =>
  played(t, 0.2, 2, (dir) => systemApart(t, dir)),
)

/** Plays this share of all histories, some at a time: they mostly wait. */
async function played(
  t: Test,
  share: number,
  lanes: number,
  open: (dir: string) => Promise<System>,
) {
  const all = CASEFILE_TEST_PATH !== undefined ? 1 : Math.ceil(count * share)
  const dir = t.testdir()
  const lane = (_: unknown, n: number) =>
    histories(Math.ceil(all / lanes), () => open(dir), Number(CASEFILE_TEST_SEED) + n)
  await Promise.all(Array.from({ length: Math.min(lanes, all) }, lane))
  t.pass(`${all} of them`)
}
