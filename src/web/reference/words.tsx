/** A description with `code` between backticks; an empty line starts a paragraph. */
export function Words({ text = '' }: { text?: string | undefined }) {
  return (
    <>
      {text
        .split(/(`[^`]+`)/)
        .map((part) => (part.startsWith('`') ? <code>{part.slice(1, -1)}</code> : part))}
    </>
  )
}

export function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text.split('\n\n').map((paragraph) => (
        <p>
          <Words text={paragraph} />
        </p>
      ))}
    </>
  )
}
