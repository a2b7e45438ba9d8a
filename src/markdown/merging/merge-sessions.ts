import { SESSION_FILE } from '../../model/name-patterns.ts'
import { isSealed, type Session } from '../../model/session.ts'
import { isFinalState } from '../../model/session-state.ts'
import { validSession } from '../valid-session.ts'
import {
  type FolderVersions,
  type MergedFile,
  SIDES,
  type Side,
  sameFile,
  textFile,
  textOf,
} from './folder.ts'
import { mergeSessionVersions, numberedAs, type SessionVersion } from './session-versions.ts'

export interface SessionsMerge {
  files: Map<string, MergedFile>
  /** Versions with text that is not in the result. */
  unmerged: { path: string; file: MergedFile }[]
  renumbered: { id: string; from: number; to: number }[]
  /** The new number of a session, by the number that it has on a side. */
  moves: Record<Side, Map<number, number>>
  /** Session files that are no readable session. They are merged as any other file. */
  unread: Set<string>
  /** Whose trail a session has, by its id. */
  winners: Map<string, 'ours' | 'theirs'>
}

interface Options {
  caseId: string
  /** The highest number that is known not to be free, besides those of the files. */
  lastNumber: number
}

interface Placed {
  id: string
  version: SessionVersion
}

/** Merges the sessions of a case by their id, and gives each its own number. */
export async function mergeSessions(
  folders: FolderVersions,
  { caseId, lastNumber }: Options,
): Promise<SessionsMerge> {
  const merge: SessionsMerge = {
    files: new Map(),
    unmerged: [],
    renumbered: [],
    moves: {
      base: new Map(),
      ours: new Map(),
      theirs: new Map(),
    },
    unread: new Set(),
    winners: new Map(),
  }
  const taken = new Set<number>()
  const byId = new Map<string, Partial<Record<Side, SessionVersion>>>()
  for (const path of sessionPaths(folders)) {
    const [base, ours, theirs] = SIDES.map((side) => folders[side].get(path))
    if (ours && sameFile(base, ours) && sameFile(ours, theirs)) {
      merge.files.set(path, ours)
      taken.add(numberOf(path))
      continue
    }
    for (const side of SIDES) {
      const file = folders[side].get(path)
      const text = await textOf(file)
      const number = numberOf(path)
      const session = text === null ? null : await validSession(text, caseId, number)
      if (!file) continue
      if (text === null || !session || 'reason' in session || byId.get(session.id)?.[side]) {
        merge.unread.add(path)
        continue
      }
      const versions = byId.get(session.id) ?? {}
      versions[side] = { number, text, session, mode: file.mode }
      byId.set(session.id, versions)
    }
  }
  const placed: Placed[] = []
  for (const [id, { base, ours, theirs }] of byId) {
    const result = await mergeSessionVersions({ base, ours, theirs })
    if (!result) continue
    const { version, from, unmerged } = result
    placed.push({ id, version })
    merge.winners.set(id, from)
    if (unmerged)
      merge.unmerged.push({
        path: pathOf(version.number),
        file: textFile(unmerged.text, unmerged.mode),
      })
  }
  let last = Math.max(lastNumber, ...SIDES.flatMap((side) => numbersIn(folders[side].keys())))
  for (const each of placed.sort(byClaim)) {
    const { number } = each.version
    const other = placed.find((one) => one !== each && one.version.number === number)
    const to = taken.has(number) ? ++last : number
    const version = await numberedAs(each.version, to, other?.version.session.started_at)
    taken.add(to)
    merge.files.set(pathOf(to), textFile(version.text, version.mode))
    if (to !== number) merge.renumbered.push({ id: each.id, from: number, to })
    for (const side of SIDES) {
      const was = byId.get(each.id)?.[side]?.number
      if (was !== undefined && was !== to) merge.moves[side].set(was, to)
    }
  }
  return merge
}

export function isSessionPath(path: string): boolean {
  return path.startsWith('sessions/') && SESSION_FILE.test(path.slice('sessions/'.length))
}

function sessionPaths(folders: FolderVersions): string[] {
  const all = SIDES.flatMap((side) => [...folders[side].keys()])
  const paths = [...new Set(all)].filter(isSessionPath)
  return paths.sort((a, b) => numberOf(a) - numberOf(b))
}

function numberOf(path: string): number {
  return Number(/(?<!\d)(\d+)\.md$/.exec(path)?.[1])
}

function pathOf(number: number): string {
  return `sessions/${number}.md`
}

/** The numbers of sessions and of their artifacts. */
function numbersIn(paths: Iterable<string>): number[] {
  return [...paths].map((path) =>
    Number(
      /^(?:sessions\/([1-9]\d{0,5})\.md|artifacts\/([1-9]\d{0,5})-.*)$/
        .exec(path)
        ?.slice(1)
        .find(Boolean) ?? 0,
    ),
  )
}

/** Who keeps a number comes first: a session that is not over, else the earlier one. So all clones decide the same. */
function byClaim(a: Placed, b: Placed): number {
  const [one, other] = [claimOf(a.version.session), claimOf(b.version.session)]
  return one < other ? -1 : 1
}

function claimOf(session: Session): string {
  const isFinal = isSealed(session) || isFinalState(session.state, false)
  return `${isFinal ? 1 : 0} ${session.started_at} ${session.id}`
}
