/** Whether artifacts are still what the service wrote. Older audit trails do not say what that was. */

import { hash } from 'node:crypto'
import { readRegular } from '../files/safe-read.ts'
import type { TrailLine } from '../model/trail.ts'
import type { TrailStep } from '../model/trail-steps.ts'
import { artifactPath, MAX_REPORT_BYTES } from '../runners/output/artifacts.ts'
import type { Layout } from '../workspace/layout.ts'

/** Whether the artifact of a step is not what the step left. False if it cannot be read. */
export async function isOtherArtifact(
  layout: Layout,
  case_id: string,
  step: TrailStep,
  name: string,
): Promise<boolean> {
  const known = stepHash(step, name)
  if (known === undefined) return false
  const read = await readRegular(artifactPath(layout, case_id, name), {
    maxBytes: MAX_REPORT_BYTES,
    within: layout.caseFolder(case_id),
  })
  return read.ok ? hash('sha256', read.bytes) !== known : read.reason === 'too_large'
}

/** Whether a text is not what a run left under this name, by its step or as its patch. */
export function isOtherText(
  text: string,
  { name, step, trail }: { name: string; step: TrailStep | undefined; trail: readonly TrailLine[] },
): boolean {
  const known = step ? [stepHash(step, name)] : patchHashes(trail)
  const given = known.filter((each) => each !== undefined)
  return given.length > 0 && !given.includes(hash('sha256', text))
}

export function changedText(name: string): string {
  return `artifacts/${name} is not what its step left: something changed it afterwards, so it does not count`
}

function stepHash({ artifacts, finished }: TrailStep, name: string): unknown {
  const { log_sha256, report_sha256 } = finished?.fields ?? {}
  return name === artifacts.report ? report_sha256 : log_sha256
}

function patchHashes(trail: readonly TrailLine[]): unknown[] {
  return trail.flatMap((line) => (line.event === 'diff_taken' ? [line.fields.patch_sha256] : []))
}
