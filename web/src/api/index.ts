export { onUnauthorized, request, type Ask } from './client'
export { api } from './endpoints'
export { ApiError, type ProblemCode } from './problem'
