/** A text that scrolls by itself, so that the keyboard reaches it; `label` tells it from the others. */
export function ExampleText({ label, text }: { label: string; text: string }) {
  return (
    <section class="plain-text" tabindex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  )
}
