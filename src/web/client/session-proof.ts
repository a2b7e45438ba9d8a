import { sayProblem } from './forms.ts'
import { notify } from './notices.ts'
import { verifyAttached } from './proof-verify.ts'
import { refresh } from './refresh.ts'
import type { Sent } from './send.ts'

/** Forms with `data-verify` verify what they have attached, as it was attached. */
export function startProof(): void {
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    if (!target.hasAttribute('data-verify') || !detail.ok) return
    event.preventDefault()
    void verify(target, detail.body)
  })
}

async function verify(form: HTMLFormElement, proof: Record<string, unknown>): Promise<void> {
  const problem = await verifyAttached(proof)
  await refresh()
  if (!problem) return
  if (form.isConnected) sayProblem(form, problem)
  else notify(problem.detail)
}
