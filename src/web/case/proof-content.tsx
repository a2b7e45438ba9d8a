import { sizeText } from '../../model/amounts.ts'
import { readPatch } from '../../rendering/diff/patch.ts'
import { DiffView } from '../../rendering/diff/view.tsx'
import { AnsiText, groundOf } from './ansi-text.tsx'

/** A longer content is shown in part: its beginning, and its end, where reports sum up. */
const [FIRST, LAST] = [64 * 1024, 32 * 1024]
const MAX_PATCH = 2 * 1024 * 1024

interface ProofContentProps {
  content: string
  /** Of the content as plain text. */
  address: string
}

/** A diff as a diff, with its very text below; anything else as a terminal shows it. */
export function ProofContent({ content, address }: ProofContentProps) {
  const isDiff = /^diff --git /.test(content) && content.length <= MAX_PATCH
  if (!isDiff) return <Shown content={content} address={address} />
  const { files, notes } = readPatch(content)
  return (
    <>
      <DiffView files={files} notes={notes} />
      <details>
        <summary>The text itself</summary>
        <Shown content={content} address={address} />
      </details>
    </>
  )
}

function Shown({ content, address }: ProofContentProps) {
  if (content.length <= FIRST + LAST) {
    return (
      <pre class={groundOf(content)} tabindex={0}>
        <AnsiText text={content} />
      </pre>
    )
  }
  const [first, last] = [content.slice(0, FIRST), content.slice(-LAST)]
  const left = Buffer.byteLength(content.slice(FIRST, -LAST))
  return (
    <>
      <pre class={groundOf(first)} tabindex={0}>
        <AnsiText text={first.toWellFormed()} />
      </pre>
      <p class="notice">
        {sizeText(left)} in the middle are left out here. <a href={address}>Show all</a> of it, as
        plain text.
      </p>
      <pre class={groundOf(last)} tabindex={0}>
        <AnsiText text={last.toWellFormed()} />
      </pre>
    </>
  )
}
