import { createRouter, createWebHistory } from 'vue-router'

export const router = createRouter({
  history: createWebHistory(),
  routes: [{ path: '/:rest(.*)*', name: 'notFound', component: () => import('@/pages/NotFoundPage.vue') }],
})
