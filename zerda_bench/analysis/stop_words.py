"""Stop words."""

from __future__ import annotations

__all__ = ["ARABIC", "ENGLISH"]

#: Lucene's default English stop words (EnglishAnalyzer.ENGLISH_STOP_WORDS_SET).
ENGLISH = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with
    """.split()  # noqa: SIM905 - a word list reads best as words
)

#: Closed classes of Arabic, our own list, as spelt with and without hamza. Spelling is compared before alef maqsura
#: becomes yeh: على ("on") is a stop word, علي (Ali) is not. Left out is what is also a common noun or name, such as أم.
ARABIC = frozenset(
    """
    في فى من عن على إلى الى مع بين عند حتى منذ قبل بعد غير سوى دون
    و أو او ثم بل لكن ولكن كما كي إذ إذا اذا لو لولا حيث أما إما اما أن إن ان بأن
    ما لا لم لن ليس ليست هل قد لقد كل بعض أي اي يا أيضا ايضا كذلك
    هو هي هى هم هما هن نحن أنا انا أنت انت
    هذا هذه هذان هؤلاء ذلك تلك التي التى الذي الذى الذين اللذان اللواتي
    كان كانت كانوا يكون تكون
    فيه فيها به بها بهم له لها لهم منه منها منهم عنه عنها عليه عليها عليهم إليه إليها اليه اليها
    ولا وما وهو وهي وقد ومن وفي وعلى وأن وإن وان وكان وكانت
    متى أين اين كيف كم لماذا ماذا لمن
    """.split()  # noqa: SIM905
)
