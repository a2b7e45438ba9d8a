import { copiedName, visibleName } from '../../rendering/hidden-characters.ts'

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
      <code>{visibleName(text)}</code>
      <button type="button" class="quiet needs-script" data-copy={copiedName(text)}>
        Copy<span class="visually-hidden"> {what}</span>
      </button>
    </span>
  )
}
