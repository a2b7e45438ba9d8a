import { copiedName } from '../../rendering/hidden-characters.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'

/** Text with a button that copies it. */
export function CopiableText({
  text,
  what,
  class: name = '',
}: {
  text: string
  what: string
  class?: string
}) {
  return (
    <span class={`copied-text ${name}`.trim()}>
      <CodeName name={text} />
      <button type="button" class="quiet needs-script" data-copy={copiedName(text)}>
        Copy<span class="visually-hidden"> {what}</span>
      </button>
    </span>
  )
}
