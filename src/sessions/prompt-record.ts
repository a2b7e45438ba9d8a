import { sha256 } from '../markdown/session-file.ts'
import type { NewTrailLine } from '../model/trail.ts'
import { createArtifact } from '../runners/output/artifacts.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import type { Prompt } from './prompt.ts'
import { isTakenArtifact, underFreeName } from './step-artifacts.ts'

/**
 * Stores a prompt as an artifact, without the secrets of the service's environment. Returns the redacted text,
 * which is the one to send, and an audit trail line that says what it contains.
 */
export async function recordPrompt(
  { layout, redactor }: Pick<SessionDeps, 'layout' | 'redactor'>,
  { case_id, number }: Pick<Job, 'case_id' | 'number'>,
  mode: 'plan' | 'work',
  { text, files, leftOut }: Prompt,
): Promise<{ text: string; line: NewTrailLine }> {
  const prompt = redactor.text(text)
  const wanted = `${number}-${mode}-prompt.md`
  const name = await underFreeName(wanted, isTakenArtifact, async (name) => {
    await createArtifact(layout, case_id, name, prompt)
    return name
  })
  const fields = {
    files,
    ...(leftOut.length > 0 ? { left_out: leftOut } : {}),
    prompt: name,
    prompt_bytes: Buffer.byteLength(prompt),
    prompt_sha256: sha256(prompt),
  }
  return { text: prompt, line: { event: 'context_loaded', fields } }
}
