/** That a conversation is not gated, and what to do about it. */
export function NotGated() {
  return (
    <>
      <strong>Not gated: its hooks were not heard.</strong> Casefile can't deny anything to this
      agent. Run <code>casefile agent status</code> to see why.
    </>
  )
}
