import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { median } from './figures.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite } from './suite.mjs' */

const ROUNDS = 20

/**
 * Commands that need no running service, from their start to their end.
 * @type {Suite}
 */
export const cliSuite = {
  sizes: [1000],
  limits: { 'node -e 0': 'Node, which does nothing and ends' },
  async *measure(size, { parent, program, say, onEnd }) {
    say(`${size} cases are made`)
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    say('commands, in turns with Node alone')
    const { rounds, commands } = await commandRounds(program, workspace, ROUNDS)
    for (const what of commands) {
      /** @type {Row} */
      const row = {
        ...{ what, work: `${size.toLocaleString('en')} cases, no service`, unit: 'ms' },
        ours: median(rounds.map(({ ours }) => ours[what] ?? Number.NaN)),
        ...{ beside: 'node -e 0', limit: median(rounds.map(({ limit }) => limit)) },
        goal: { over: 120 },
      }
      yield row
    }
    workspace.remove()
  },
}

/**
 * How long each command takes, and Node alone, in turns. The first of all is not counted: it leaves
 * the state folder of a workspace that is in use.
 * @param {string} program
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {number} count
 */
export async function commandRounds(program, { root, ids, newStateDir }, count) {
  const where = ['--root', root, '--state-dir', newStateDir()]
  const shown = String(ids[ids.length >> 1])
  const commands = {
    'casefile list': [program, 'list', ...where],
    'casefile show': [program, 'show', shown, ...where],
  }
  const names = /** @type {(keyof typeof commands)[]} */ (Object.keys(commands))
  /** @type {{ ours: Record<string, number>, limit: number }[]} */
  const rounds = []
  for (let round = 0; round <= count; round++) {
    /** @type {Record<string, number>} */
    const ours = {}
    for (const name of names) ours[name] = await timeOf(commands[name])
    const limit = await timeOf(['-e', '0'])
    if (round > 0) rounds.push({ ours, limit })
  }
  return { rounds, commands: names }
}

/** Of a Node process with its output read, in milliseconds. @param {string[]} args */
async function timeOf(args) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CASEFILE_'))
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...Object.fromEntries(own), NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.resume()
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`)
  return performance.now() - began
}
