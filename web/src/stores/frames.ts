/** Runs something at the next frame, or soon where no frames are drawn. */
const HIDDEN_MS = 200

export function atNextFrame(then: () => void): void {
  let done = false
  const once = () => {
    if (done) return
    done = true
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    then()
  }
  // A hidden tab draws no frames, but still has to process events.
  const frame = requestAnimationFrame(once)
  const timer = setTimeout(once, HIDDEN_MS)
}
