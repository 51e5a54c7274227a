export { onUnauthorized, request, type Ask } from './client'
export { ApiError, type ProblemCode } from './problem'
