import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * The parts of the long lane: what takes long, or needs programs that are seldom there. `npm test` runs the files of `both`
 * too, with smaller numbers. A path is a file, or a folder if it ends with a slash. `jobs`: files side by side, if not two.
 * In full a part takes at most 30 minutes on two cores, `soak` an hour; with the numbers of CI it takes 4.
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
      'test/runners/reading-commands.ts',
      'test/runners/scope.ts',
      'test/workspace/lost-update.ts',
      'test/histories.ts',
      'test/markdown/merging/random-merges.ts',
      'test/markdown/odd-files.ts',
      'test/markdown/reading-again.ts',
      'test/markdown/review.ts',
      'test/markdown/sections.ts',
      'test/markdown/two-readers.ts',
      'test/sessions/redaction.ts',
      'test/workspace/byte-edits.ts',
    ],
    long: ['test/http/fuzz.ts'],
  },
  files: {
    both: [
      'test/events/git.ts',
      'test/events/editors.ts',
      'test/events/old-buffers.ts',
      'test/workspace/files.ts',
      'test/workspace/index-file.ts',
    ],
    long: ['test/check/two-clones.ts', 'test/workspace/permissions.ts'],
  },
  // measures time, and so runs with no other beside it
  timed: { jobs: 1, long: ['test/timed/'] },
  agents: {
    both: [
      'test/hook-settings/trial.ts',
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
      'test/runners/acp.ts',
      'test/runners/agent-version.ts',
      'test/runners/command.ts',
      'test/runners/kill-run.ts',
      'test/runners/sandbox.ts',
      'test/sessions/agents.ts',
      'test/sessions/git-traps.ts',
      'test/sessions/secrets.ts',
      'test/sessions/stream.ts',
      'test/sessions/planning-walls.ts',
      'test/sessions/walls.ts',
    ],
  },
  requests: {
    both: [
      'test/events/hand-edits.ts',
      'test/http/events.ts',
      'test/http/artifacts.ts',
      'test/http/lists.ts',
      'test/http/memory.ts',
      'test/http/proof.ts',
      'test/markdown/work-limit.ts',
      'test/search/database.ts',
      'test/webhooks/journey.ts',
      'test/webhooks/secrets.ts',
      'test/webhooks/delivery.ts',
      'test/webhooks/queue.ts',
      'test/webhooks/troubles.ts',
    ],
  },
  commands: {
    both: [
      'test/cli/console.ts',
      'test/cli/exchange.ts',
      'test/cli/mcp.ts',
      'test/demo/sample-copy.ts',
      'test/sample-workspace.ts',
    ],
    long: ['test/cli/large-proofs.ts'],
  },
  sharing: {
    both: [
      'test/check/renumbering.ts',
      'test/sync/kinds.ts',
      'test/sync/recovery.ts',
      'test/sync/secrets.ts',
    ],
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
    both: ['test/platform/closed-doors.ts'],
    long: ['test/http/behind-nginx.ts', 'test/platform/'],
  },
  soak: {
    both: ['test/http/event-stream.ts', 'test/http/large-bodies.ts'],
    long: ['test/soak.ts'],
  },
}

const isBelow = (file, paths) =>
  paths.some((path) => path === file || (path.endsWith('/') && file.startsWith(path)))

const pathsOf = ({ both = [], long = [] }) => [...both, ...long]

/** The names of the parts that a file is in. */
export const partsOf = (file) =>
  Object.keys(PARTS).filter((name) => isBelow(file, pathsOf(PARTS[name])))

/** What is wrong in the parts; empty where nothing is. */
export function faultsOf(files, textOf) {
  const named = Object.values(PARTS).flatMap(pathsOf)
  const gone = named.filter((path) => !files.some((file) => isBelow(file, [path])))
  const lost = files.filter(
    (file) => partsOf(file).length === 0 && /\b(isLong|inLongLane|isFull)\b/.test(textOf(file)),
  )
  return [
    ...gone.map((path) => `test/long-lane.mjs names ${path}, which is not there`),
    ...lost.map((file) => `${file} leaves something to the long lane, and is in no part of it`),
  ]
}

/** Whether `npm test` runs the file. */
export const isShort = (file) =>
  partsOf(file).every((name) => isBelow(file, PARTS[name].both ?? []))

/** By the time of the commit, which a clone without its history has too. */
function partOfCommit() {
  const git = ['-c', 'safe.directory=*', 'log', '-1', '--format=%ct']
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const seconds = Number(execFileSync('git', git, { cwd, encoding: 'utf8' }))
  return Object.keys(PARTS)[seconds % Object.keys(PARTS).length]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(partOfCommit())
