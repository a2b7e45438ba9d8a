import { listenTo } from './event-lines.mjs'
import { spreadOf } from './figures.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Runs } from './runs.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const ROUNDS = 5
const MB = 50
const PRINT = `yes 'one more line of a test that prints much' | head -c ${MB * 2 ** 20}`
const PAUSE_MS = 2
const GOAL_MS = 50

/**
 * Requests of one client, one after the other with a short pause, while a step prints; somebody reads
 * the session's stream meanwhile. In turns with as many while nothing runs.
 * @param {{ casefile: Casefile, workspace: Workspace, runs: Runs }} sides
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function printingRows({ casefile, workspace, runs }, { say }) {
  const port = Number(new URL(casefile.url).port)
  const connection = openRaw(port)
  /** @type {{ ours: number[], limit: number[] }} */
  const times = { ours: [], limit: [] }
  /** @type {number[]} */
  const took = []
  for (let round = 0; round < ROUNDS; round++) {
    say(`a step prints ${MB} MB, round ${round + 1}`)
    const session = await runs.prepare([PRINT])
    const kinds = [
      rawRequest(port, 'GET', `/cases/${workspace.ids[round]}`),
      rawRequest(port, 'GET', session.path),
      rawRequest(port, 'GET', '/cases?limit=50'),
    ]
    const stream = await listenTo(`${casefile.url}${session.path}/stream`, () => {})
    let isOver = false
    const running = runs.run(session).then((ms) => {
      isOver = true
      took.push(ms)
    })
    const count = await ask(kinds, times.ours, () => isOver)
    await running
    stream.close()
    let left = count
    await ask(kinds, times.limit, () => left-- <= 0)
  }
  connection.close()
  const work = `${times.ours.length} requests, in ${took.length} runs`
  const common = /** @type {const} */ ({ work, unit: 'ms', beside: 'nothing printed' })
  const what = `GET while a step prints ${MB} MB`
  const [ours, limit] = [spreadOf(times.ours), spreadOf(times.limit)]
  return [
    { what: `${what}, p50`, ...common, ours: ours.p50, limit: limit.p50 },
    { what: `${what}, p99`, ...common, ours: ours.p99, limit: limit.p99, goal: { value: GOAL_MS } },
  ]

  /** @type {(kinds: Buffer[], into: number[], isOver: () => boolean) => Promise<number>} */
  async function ask(kinds, into, isOver) {
    let asked = 0
    while (!isOver()) {
      into.push(await connection.time(/** @type {Buffer} */ (kinds[asked++ % kinds.length])))
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    return asked
  }
}
