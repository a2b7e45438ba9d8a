/**
 * What a run leaves for later (docs/sessions.md): its evidence lists what other programs run outside its sandbox, and a run
 * that makes git read its configuration from elsewhere is ended.
 */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { GitRepository } from '../git/repository.ts'
import { describeAll, type RunsLater, runsLater } from '../model/runs-later.ts'
import { type NewTrailLine, newLine } from '../model/trail.ts'
import { createArtifact } from '../runners/output/artifacts.ts'
import { foldersWithoutRedirect, redirectsAside, setAside } from '../snapshots/git-redirects.ts'
import { findInHome, findInWorkdir } from '../snapshots/later-files.ts'
import { findConfiguredPaths, foldersOnPath } from '../snapshots/later-paths.ts'
import { type LeftNote, openLeftNotes } from '../snapshots/left-notes.ts'
import type { SessionDeps } from './deps.ts'
import type { IsolatedWork } from './isolation.ts'
import type { Job } from './jobs.ts'
import { appendLine } from './run-recorder.ts'
import { isTakenArtifact, underFreeName } from './step-artifacts.ts'
import type { Walls } from './walls.ts'

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
  /** Stops the run if it made git read its configuration from elsewhere. */
  look(): Promise<void>
  /** Call this when the run's processes have ended. */
  end(): Promise<Left>
}

interface Watched {
  isolated: IsolatedWork | null
  repository: GitRepository | { reason: string }
  /** Of its first programs: in mounts they cannot write to the home folder. */
  walls: Promise<Walls>
  /** Stops the run. */
  stop: AbortController
}

/** Records how it is before the first step. */
export async function watchLeft(
  deps: SessionDeps,
  job: Job,
  { isolated, repository, walls, stop }: Watched,
): Promise<LeftWatch> {
  const { environment, state, layout } = deps
  const workdir = job.folder!
  const home = environment.HOME && isAbsolute(environment.HOME) ? environment.HOME : homedir()
  const around = {
    workdir,
    // the service makes the link of a worktree whole at its end
    exclude: isolated
      ? [...isolated.exclude, join(isolated.tree, '.git')]
      : [layout.memoryRoot, state.root],
    isGitKept: isolated === null,
    path: foldersOnPath(environment.PATH ?? '', workdir),
    named: await findConfiguredPaths(workdir, repository),
  }
  const folders = await foldersWithoutRedirect(workdir)
  const [inWorkdir, { places }] = await Promise.all([findInWorkdir(around), walls])
  const scope = { ...around, home: places === null ? home : null }
  const note: LeftNote = { scope, inWorkdir, inHome: await findInHome(scope), folders }
  await openLeftNotes(state.root).write(job.session_id, note)
  let why: string | null = null
  async function look() {
    try {
      if (!(await setAll(folders, job.session_id))) return
    } catch (error) {
      why = `a commondir in the git folder could not be moved away: ${String(error)}`
    }
    stop.abort()
  }
  return {
    look,
    async end() {
      await look()
      const found = await describeRedirects(deps, job, note)
      return { lines: await laterLines(deps, job, note), why: found ?? why }
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
  { scope, ...before }: Pick<LeftNote, 'scope' | 'inWorkdir' | 'inHome'>,
): Promise<NewTrailLine[]> {
  const after = { inWorkdir: await findInWorkdir(scope), inHome: await findInHome(scope) }
  const found = [
    ...runsLater(before.inWorkdir.places, after.inWorkdir.places),
    ...runsLater(before.inHome.places, after.inHome.places),
  ]
  const [had, has] = [before, after].map((each) => each.inWorkdir.unchecked + each.inHome.unchecked)
  const unchecked = Math.max(had!, has!)
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
