/**
 * What a run leaves for later (docs/sessions.md): its evidence lists what other programs run outside its sandbox, and a run
 * that makes git read its configuration from elsewhere is ended.
 */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { GitRepository } from '../git/repository.ts'
import { sessionOf } from '../model/case-folder.ts'
import { describeAll, type RunsLater, runsLater } from '../model/runs-later.ts'
import { lastOf, type NewTrailLine, newLine } from '../model/trail.ts'
import { createArtifact } from '../runners/output/artifacts.ts'
import {
  foldersWithoutRedirect,
  redirectsAside,
  setAside,
  watchForRedirects,
} from '../snapshots/git-redirects.ts'
import { findConfiguredPaths, foldersOnPath } from '../snapshots/later-paths.ts'
import { findLaterPlaces } from '../snapshots/later-places.ts'
import { type LeftNote, openLeftNotes } from '../snapshots/left-notes.ts'
import type { SessionDeps } from './deps.ts'
import type { IsolatedWork } from './isolation.ts'
import type { Job } from './jobs.ts'
import { appendLine } from './run-recorder.ts'
import { isTakenArtifact, underFreeName } from './step-artifacts.ts'

/** How many places with one trigger the audit trail lists. */
const MAX_OF_ONE = 12
const MAX_BYTES_OF_ONE = 8 * 1024

type Run = Pick<Job, 'case_id' | 'session_id' | 'number' | 'ending'>

export interface Left {
  /** For the evidence. */
  lines: NewTrailLine[]
  /** Why the run failed by what it left, as a clause; null if it did not. */
  why: string | null
}

export interface LeftWatch {
  /** Aborted when the run made git read its configuration from elsewhere. */
  signal: AbortSignal
  /** Looks whether it did. */
  look(): Promise<void>
  /** Call this when the run's processes have ended. */
  end(): Promise<Left>
  close(): Promise<void>
}

/** Records how it is before the first step. */
export async function watchLeft(
  deps: SessionDeps,
  job: Job,
  {
    isolated,
    repository,
  }: { isolated: IsolatedWork | null; repository: GitRepository | { reason: string } },
): Promise<LeftWatch> {
  const { environment, state, layout } = deps
  const workdir = job.folder!
  const home = environment.HOME && isAbsolute(environment.HOME) ? environment.HOME : homedir()
  const scope = {
    workdir,
    // the service makes the link of a worktree whole at its end
    exclude: isolated
      ? [...isolated.exclude, join(isolated.tree, '.git')]
      : [layout.memoryRoot, state.root],
    isGitKept: isolated === null,
    path: foldersOnPath(environment.PATH ?? '', workdir),
    home,
    named: await findConfiguredPaths(workdir, repository),
  }
  const folders = await foldersWithoutRedirect(workdir)
  const note: LeftNote = { scope, before: await findLaterPlaces(scope), folders }
  await openLeftNotes(state.root).write(job.session_id, note)
  const stop = new AbortController()
  let why: string | null = null
  let looking = Promise.resolve()
  const look = (isSeen: boolean) => {
    looking = looking.then(async () => {
      const found = await setAll(folders, job.session_id).catch(
        (error: unknown) =>
          `a commondir in the git folder could not be moved away: ${String(error)}`,
      )
      if (found === false && !(isSeen && why === null)) return
      // moved away by the run itself, or for another run of the repository
      why ??=
        typeof found === 'string' ? found : `the git folder got a commondir meanwhile, ${EFFECT}`
      stop.abort()
    })
    return looking
  }
  const onError = (error: unknown) =>
    deps.log(`the git folder of ${workdir} cannot be watched: ${String(error)}`)
  const watch = watchForRedirects(folders, { onSign: () => void look(true), onError })
  return {
    signal: stop.signal,
    look: () => look(false),
    async end() {
      await look(false)
      watch.close()
      const found = await describeRedirects(deps, job, note)
      return { lines: await laterLines(deps, job, note), why: found ?? why }
    },
    async close() {
      watch.close()
      await looking
    },
  }
}

/** The same after the service died, or could not go on; nothing if it had not begun. */
export async function leftBehind(deps: SessionDeps, run: Run): Promise<Left> {
  const note = await openLeftNotes(deps.state.root).read(run.session_id)
  if (note === null) return { lines: [], why: null }
  await setAll(note.folders, run.session_id)
  const why = await describeRedirects(deps, run, note)
  return { lines: await laterLines(deps, run, note), why }
}

/** Removes what is stored about a run whose end is recorded. */
export async function forgetRun(
  { runs, state }: Pick<SessionDeps, 'runs' | 'state'>,
  sessionId: string,
): Promise<void> {
  await runs.remove(sessionId)
  await openLeftNotes(state.root).remove(sessionId)
}

/** Moves away what makes git read its configuration from elsewhere; false if there is nothing. */
async function setAll(folders: LeftNote['folders'], mark: string): Promise<boolean> {
  let isAny = false
  for (const folder of folders) if (await setAside(folder, mark)) isAny = true
  return isAny
}

/** Records what was moved away; a clause about it, or null if there is nothing. */
async function describeRedirects(
  deps: SessionDeps,
  run: Run,
  { folders }: Pick<LeftNote, 'folders'>,
): Promise<string | null> {
  const clauses: string[] = []
  for (const folder of folders) {
    for (const { file, content, kept, drop } of await redirectsAside(folder, run.session_id)) {
      const place = kept ?? `artifacts/${await storeText(deps, run, 'commondir', content)}`
      await drop()
      const shown = content.slice(0, MAX_CONTENT).toWellFormed()
      const fields = { file, content: shown, kept: place }
      await appendLine(deps, run, { event: 'git_redirected', fields })
      clauses.push(`it wrote ${file} (now ${place}), ${EFFECT}`)
    }
  }
  return clauses.length === 0 ? null : clauses.join('; ')
}

const MAX_CONTENT = 300
const EFFECT = 'by which git reads its configuration and hooks from another folder'

function storeText(
  { layout, redactor }: SessionDeps,
  run: Pick<Run, 'case_id' | 'number'>,
  what: string,
  text: string,
): Promise<string> {
  return underFreeName(`${run.number}-${what}.txt`, isTakenArtifact, async (name) => {
    await createArtifact(layout, run.case_id, name, redactor.text(text))
    return name
  })
}

async function laterLines(
  deps: SessionDeps,
  run: Run,
  { scope, before }: Pick<LeftNote, 'scope' | 'before'>,
): Promise<NewTrailLine[]> {
  const after = await findLaterPlaces(scope)
  const { trail } = sessionOf(await deps.store.read(run.case_id), run.session_id)
  // in mounts the run could not write there
  const isWalled = Array.isArray(lastOf(trail, 'guarded')?.fields.writes)
  const found = [
    ...runsLater(before.inWorkdir, after.inWorkdir),
    ...(isWalled ? [] : runsLater(before.inHome, after.inHome)),
  ]
  const unchecked = Math.max(before.unchecked, after.unchecked)
  if (found.length === 0 && unchecked === 0) return []
  const places = firstOfEach(found)
  const line = newLine('runs_later', {
    places: places.map(({ scripts, ...place }) => ({
      ...place,
      ...(scripts && { scripts: scripts.slice(0, MAX_SCRIPTS) }),
    })),
    more: found.length - places.length || undefined,
    all:
      found.length > places.length
        ? await storeText(deps, run, 'runs-later', describeAll(found))
        : undefined,
    unseen: unchecked || undefined,
  })
  return [line]
}

/** So many places of one kind leave room for others. */
function firstOfEach(found: readonly RunsLater[]): RunsLater[] {
  const counts = new Map<string, { places: number; bytes: number }>()
  return found.filter(({ starts, file }) => {
    const { places, bytes } = counts.get(starts) ?? { places: 0, bytes: 0 }
    const count = { places: places + 1, bytes: bytes + Buffer.byteLength(file) }
    counts.set(starts, count)
    return count.places <= MAX_OF_ONE && count.bytes <= MAX_BYTES_OF_ONE
  })
}

const MAX_SCRIPTS = 20
