/* A queue of items between two threads, for the programs that hand them over. Its slots are counted
 * by semaphores, or its length is guarded by a mutex and two conditions. */
#ifndef IOT_TEST_STEPS_HAND_OVER_H
#define IOT_TEST_STEPS_HAND_OVER_H

#include <pthread.h>
#include <semaphore.h>

struct sem_queue {
    sem_t free, used;
};

static inline void sem_queue_start(struct sem_queue *q, unsigned depth)
{
    sem_init(&q->free, 0, depth);
    sem_init(&q->used, 0, 0);
}

static inline void sem_queue_put(struct sem_queue *q, void (*make)(int), int item)
{
    sem_wait(&q->free);
    make(item);
    sem_post(&q->used);
}

struct cond_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed[2]; /* longer, shorter */
    int length, depth;
};

static inline void cond_queue_put(struct cond_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->length == q->depth)
        pthread_cond_wait(&q->changed[1], &q->lock);
    q->length++;
    pthread_cond_signal(&q->changed[0]);
    pthread_mutex_unlock(&q->lock);
}

static inline void cond_queue_get(struct cond_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->length)
        pthread_cond_wait(&q->changed[0], &q->lock);
    q->length--;
    pthread_cond_signal(&q->changed[1]);
    pthread_mutex_unlock(&q->lock);
}

#endif
