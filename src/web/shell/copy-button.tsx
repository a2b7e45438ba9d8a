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
      <code>{text}</code>
      <button type="button" class="quiet needs-script" data-copy={text}>
        Copy<span class="visually-hidden"> {what}</span>
      </button>
    </span>
  )
}
