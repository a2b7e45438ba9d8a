import { isSealed, type Session } from '../../model/session.ts'
import type { TrailLine } from '../../model/trail.ts'
import { eventsOfLines } from '../../model/trail-lines.ts'
import { findBodyStart } from '../document.ts'
import { choose, hasChange } from '../merge.ts'
import { mergeRecord } from '../merge-record.ts'
import { renumberedSession } from '../session-renumbering.ts'
import { readTrail } from '../trail.ts'
import { validSession } from '../valid-session.ts'

/** A session in one version of a case folder. */
export interface SessionVersion {
  number: number
  text: string
  session: Session
  mode: string
}

export interface SessionVersions {
  base: SessionVersion | undefined
  ours: SessionVersion | undefined
  theirs: SessionVersion | undefined
}

export interface MergedSession {
  version: SessionVersion
  /** Whose trail it has. */
  from: 'ours' | 'theirs'
  /** A version with text that is not in the result. */
  unmerged: SessionVersion | null
}

/** Merges the versions of one session; null if it is deleted. Its number may differ between them. */
export async function mergeSessionVersions(all: SessionVersions): Promise<MergedSession | null> {
  const { base, ours, theirs } = all
  const left = ours ?? theirs
  if (!left) return null
  if (!ours || !theirs)
    return base && isSame(left, base) ? null : whole(left, ours ? 'ours' : 'theirs')
  if (isSame(ours, theirs) || isSame(theirs, base)) return whole(ours, 'ours')
  if (isSame(ours, base)) return whole(theirs, 'theirs')
  return (
    (await mergeChanged({ base, ours, theirs })) ?? { ...whole(ours, 'ours'), unmerged: theirs }
  )
}

function whole(version: SessionVersion, from: 'ours' | 'theirs'): MergedSession {
  return { version, from, unmerged: null }
}

function isSame(a: SessionVersion | undefined, b: SessionVersion | undefined): boolean {
  return a?.text === b?.text && a?.number === b?.number
}

interface Changed extends SessionVersions {
  ours: SessionVersion
  theirs: SessionVersion
}

/** Null if both continued the session in different ways, and neither is to be preferred. */
async function mergeChanged(all: Changed): Promise<MergedSession | null> {
  const number = numberOf(all)
  const acts = { ours: actsIn(all.ours), theirs: actsIn(all.theirs) }
  const isTheirs = acts.theirs.length > acts.ours.length
  const [longer, shorter] = isTheirs ? [acts.theirs, acts.ours] : [acts.ours, acts.theirs]
  if (shorter.some((act, index) => act !== longer[index])) return runOverAbandon(all, number)
  const isEqual = longer.length === shorter.length
  const from = isEqual ? preferred(all, number) : isTheirs ? 'theirs' : 'ours'
  const version = await numberedAs(all[from], number)
  const other = all[from === 'ours' ? 'theirs' : 'ours']
  const unmerged: MergedSession = { version, from, unmerged: other }
  const head = headOf(version.text)
  const heads = {
    ours: head,
    theirs: headOf((await numberedAs(other, number)).text),
  }
  if (heads.ours === heads.theirs) return { version, from, unmerged: null }
  const known = all.base && actsIn(all.base)
  const isBase = known?.length === shorter.length && known.every((act, at) => act === shorter[at])
  if (!all.base || !isBase) {
    // the other is an earlier version: what it says must still be here
    return saysAll(version.text, other.text) ? { version, from, unmerged: null } : unmerged
  }
  const versions = { base: headOf((await numberedAs(all.base, number)).text), ...heads }
  if (versions.theirs === versions.base || hasChange(versions))
    return { version, from, unmerged: null }
  const merged = isSealed(version.session) ? null : mergeRecord(versions)
  const valid = merged === null ? null : await validVersion(version, merged)
  return valid ? { version: valid, from, unmerged: null } : unmerged
}

/** A run that is complete and sealed did happen, so it stays where the other side has only abandoned the session. */
async function runOverAbandon(all: Changed, number: number): Promise<MergedSession | null> {
  const { ours } = all
  const isRun = ({ session }: SessionVersion) => session.state === 'complete' && isSealed(session)
  const from = isRun(ours) ? 'ours' : 'theirs'
  const other = all[from === 'ours' ? 'theirs' : 'ours']
  if (!isRun(all[from]) || other.session.state !== 'abandoned') return null
  return { version: await numberedAs(all[from], number), from, unmerged: other }
}

/**
 * Returns the number that only one side changed. If both did, that of the side that has also been renumbered from the
 * other's, else the lower.
 */
function numberOf({ base, ours, theirs }: Changed): number {
  const chosen = base && choose({ base: base.number, ours: ours.number, theirs: theirs.number })
  if (chosen) return chosen
  if (hadNumber(ours, theirs.number)) return ours.number
  if (hadNumber(theirs, ours.number)) return theirs.number
  return Math.min(ours.number, theirs.number)
}

function hadNumber({ session }: SessionVersion, number: number): boolean {
  return session.trail.some((line) => line.event === 'renumbered' && line.fields.from === number)
}

/** With the same acts on both sides, the one with the number; else every clone must choose the same. */
function preferred({ ours, theirs }: Changed, number: number): 'ours' | 'theirs' {
  if (ours.number !== theirs.number) return theirs.number === number ? 'theirs' : 'ours'
  const trails = [ours, theirs].map(({ text }) => text.slice(headOf(text).length))
  return trails[1]! < trails[0]! ? 'theirs' : 'ours'
}

/**
 * The lines of the trail that say what happened, without their numbers. Renumbering adds a line and replaces the seal,
 * so it does not count.
 */
function actsIn({ session: { trail } }: SessionVersion): string[] {
  const acts = trail.filter(({ event }) => event !== 'renumbered')
  const sealedBefore = trail.find(
    (line) => line.event === 'renumbered' && line.fields.was_sealed !== undefined,
  )?.fields
  return acts.map((line) => {
    if (line.event !== 'session_sealed') return JSON.stringify([line.time, line.event, line.fields])
    const seal = (sealedBefore as Record<string, unknown> | undefined)?.was_sealed
    return JSON.stringify([line.event, seal ?? line.fields.sha256])
  })
}

/** The text above the audit trail. */
function headOf(text: string): string {
  return text.slice(0, readTrail(text)?.start)
}

function saysAll(text: string, earlier: string): boolean {
  const lines = (text: string) => text.split(/\r\n|\r|\n/).map((line) => line.trim())
  const present = new Set(lines(text))
  const head = headOf(earlier)
  const body = head.slice(findBodyStart(head) ?? 0)
  return lines(body).every((line) => line === '' || /^# Session /.test(line) || present.has(line))
}

/** Returns the version with another number; itself if it cannot have one. */
export async function numberedAs(
  version: SessionVersion,
  number: number,
  notBefore = '',
): Promise<SessionVersion> {
  if (version.number === number) return version
  const last = version.session.trail.at(-1)?.time ?? version.session.started_at
  const time = last > notBefore ? last : notBefore
  const move = { from: version.number, to: number, time }
  const text = await renumberedSession(version.text, move)
  return { ...version, number, text, session: { ...version.session, number, trail: trailIn(text) } }
}

function trailIn(text: string): TrailLine[] {
  return eventsOfLines(readTrail(text)?.lines.map(({ line }) => line) ?? [])
}

/** Returns the version with another text above its trail, if that is still the same session. */
async function validVersion(version: SessionVersion, head: string): Promise<SessionVersion | null> {
  const text = head + version.text.slice(headOf(version.text).length)
  const { session } = version
  const read = await validSession(text, session.case_id, version.number)
  if ('reason' in read) return null
  const isSameSession =
    read.id === session.id &&
    read.state === session.state &&
    read.trail.length === session.trail.length
  return isSameSession ? { ...version, text, session: read } : null
}
