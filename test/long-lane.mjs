import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The names of `test/fixtures/full.ts`: a file that has one of them leaves something to the long lane. */
const LEAVES = /\b(isLong|inLongLane|isFull)\b/

/**
 * The parts of the long lane: what takes long, or needs programs that are seldom there, or finds no planted fault that
 * quicker tests do not find. `npm test` runs every file but those of `long`; those of `both` with smaller numbers, and
 * without the tests that `inLongLane` marks.
 * A path is a file, or a folder if it ends with a slash. A file is in the part with the longest path that fits it; below a
 * folder in `both` only if it leaves something to the long lane. `jobs`: files side by side, if not two.
 * In full a part takes at most 30 minutes on two cores, `soak` an hour; with the numbers of CI it takes four.
 * `node test/long-lane.mjs` prints the part that CI runs at this commit.
 */
export const PARTS = {
  browser: {
    both: ['test/browser/whole-flow.ts'],
    long: ['test/browser/'],
  },
  faults: {
    both: [
      'test/events/event-log.ts',
      'test/faults/damaged-state.ts',
      'test/faults/replace-seen.ts',
      'test/faults/short-of-means.ts',
      'test/sessions/restart.ts',
      'test/workspace/ownership.ts',
    ],
    long: [
      'test/faults/',
      'test/events/kills.ts',
      'test/sessions/agent-kills.ts',
      'test/sessions/isolation-kills.ts',
      'test/sessions/queue-restart.ts',
      'test/webhooks/kills.ts',
    ],
  },
  random: {
    both: [
      'test/histories.ts',
      'test/markdown/',
      'test/model/',
      'test/rendering/',
      'test/runners/reading-commands.ts',
      'test/runners/scope.ts',
      'test/sessions/redaction.ts',
      'test/workspace/byte-edits.ts',
      'test/workspace/lost-update.ts',
    ],
    long: ['test/http/fuzz.ts'],
  },
  files: {
    both: ['test/events/', 'test/git/', 'test/state/', 'test/workspace/'],
    long: ['test/check/two-clones.ts', 'test/workspace/permissions.ts'],
  },
  // measures time, and so runs with no other beside it
  timed: { jobs: 1, long: ['test/timed/'] },
  agents: {
    both: [
      'test/hook-settings/',
      'test/hooks/',
      'test/http/self-approval.ts',
      'test/runners/contract.ts',
      'test/sessions/hostile-texts.ts',
    ],
    long: [
      'test/cli/mcp-clients.ts',
      'test/hooks/real-claude.ts',
      'test/hooks/real-codex.ts',
      'test/hooks/real-others.ts',
      'test/runners/real-agents.ts',
      'test/runners/real-sandbox-runtime.ts',
      'test/runners/sixth-agent.ts',
      'test/sessions/hostile-projects.ts',
      'test/sessions/project-instructions.ts',
      'test/sessions/real-agents.ts',
    ],
  },
  runs: {
    both: [
      'test/runners/',
      'test/sessions/agents.ts',
      'test/sessions/git-traps.ts',
      'test/sessions/planning-walls.ts',
      // by an agent of its fixtures
      'test/sessions/scope.ts',
      'test/sessions/secrets.ts',
      'test/sessions/stream.ts',
      'test/sessions/walls.ts',
    ],
  },
  requests: {
    both: ['test/events/hand-edits.ts', 'test/http/', 'test/search/', 'test/webhooks/'],
  },
  commands: {
    both: [
      'test/cli/',
      'test/demo/',
      'test/doctor/',
      'test/import/',
      'test/init/',
      'test/sample-workspace.ts',
    ],
    long: ['test/cli/large-proofs.ts'],
  },
  sharing: {
    both: ['test/check/', 'test/signing/', 'test/sync/', 'test/trust/', 'test/verify/'],
    long: [
      'test/sync/simulation.ts',
      'test/verify/action.ts',
      'test/verify/named-in-commits.ts',
      'test/verify/statements.ts',
    ],
  },
  documents: {
    both: [
      'test/docs.ts',
      'test/http/openapi.ts',
      'test/readme.ts',
      'test/tutorials.ts',
      'test/web/help.ts',
    ],
    long: [
      'test/case-fields.ts',
      'test/cli/terminal.ts',
      'test/demo/demo.ts',
      'test/http/api-tools.ts',
      'test/package.ts',
      'test/webhooks/docs.ts',
    ],
  },
  platforms: {
    both: ['test/settings/', 'test/starting.ts', 'test/web/'],
    long: ['test/http/behind-nginx.ts', 'test/platform/'],
  },
  soak: {
    both: ['test/http/event-stream.ts', 'test/http/large-bodies.ts', 'test/sessions/'],
    long: ['test/soak.ts'],
  },
}

const isBelow = (file, path) => path === file || (path.endsWith('/') && file.startsWith(path))
const pathsOf = ({ both = [], long = [] }) => [...both, ...long]
const textOf = (file) => readFileSync(join(ROOT, file), 'utf8')

/** The name of the part that a file is in, if any. */
export function partOf(file) {
  const path = nearest(file)
  const name = Object.keys(PARTS).find((name) => pathsOf(PARTS[name]).includes(path))
  const isWhole = path === file || !isShort(file)
  return isWhole || LEAVES.test(textOf(file)) ? name : undefined
}

/** The longest path in the parts that fits a file. */
function nearest(file) {
  const all = Object.values(PARTS).flatMap(pathsOf)
  return all.filter((path) => isBelow(file, path)).sort((a, b) => b.length - a.length)[0]
}

/** What is wrong in the parts; empty where nothing is. */
export function faultsOf(files) {
  const named = Object.values(PARTS).flatMap(pathsOf)
  const twice = named.filter((path, at) => named.indexOf(path) !== at)
  const gone = named.filter((path) => !files.some((file) => isBelow(file, path)))
  const lost = files.filter((file) => partOf(file) === undefined && LEAVES.test(textOf(file)))
  return [
    ...twice.map((path) => `test/long-lane.mjs names ${path} twice`),
    ...gone.map((path) => `test/long-lane.mjs names ${path}, which is not there`),
    ...lost.map((file) => `${file} leaves something to the long lane, and is in no part of it`),
  ]
}

/** Whether `npm test` runs the file. */
export const isShort = (file) =>
  !Object.values(PARTS).some(({ long }) => long?.includes(nearest(file)))

/** By the time of the commit, which a clone without its history has too. */
function partOfCommit() {
  const git = ['-c', 'safe.directory=*', 'log', '-1', '--format=%ct']
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const seconds = Number(execFileSync('git', git, { cwd, encoding: 'utf8' }))
  return Object.keys(PARTS)[seconds % Object.keys(PARTS).length]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(partOfCommit())
