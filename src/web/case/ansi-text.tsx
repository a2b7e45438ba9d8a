import { raw } from 'hono/html'
import { ansiHtml } from '../../rendering/ansi/look.ts'

/** Text as a terminal would show it; stands in a `<pre>`. */
export function AnsiText({ text }: { text: string }) {
  return <>{raw(ansiHtml(text))}</>
}

/** The class of the `<pre>`: text without colours needs no dark ground. */
export function groundOf(text: string): string {
  return text.includes('\u001b[') ? 'terminal' : 'plain-text'
}
